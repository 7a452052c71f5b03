/** The bash execution seam: requests, specs, results, processes. No implementation. */

export * from './environment.ts'
export * from './errors.ts'
export * from './executor.ts'
export * from './ids.ts'
export * from './process.ts'
export * from './request.ts'
export * from './result.ts'
