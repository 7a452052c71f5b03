/** The sandbox seam: what a confinement is, who provides it, and how it can be refused. No implementation. */

export * from './effects.ts'
export * from './errors.ts'
export * from './modes.ts'
export * from './paths.ts'
export * from './policy.ts'
export * from './provider.ts'
