/** Confinement profiles: what one may say, the shipped ones, and how a name or a file becomes one. */

export * from './errors.ts'
export * from './load.ts'
export * from './schema.ts'
