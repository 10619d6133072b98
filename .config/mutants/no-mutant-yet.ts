import { inject } from 'vitest'

/** Runs after Stryker's own setup: while test files are loaded, the mutant of the run before must not act any more. */
declare module 'vitest' {
  interface ProvidedContext {
    globalNamespace: string
    mutantActivation: 'static' | 'runtime' | undefined
  }
}

if (inject('mutantActivation') !== 'static') {
  const stryker = Reflect.get(globalThis, inject('globalNamespace')) as { activeMutant?: string | undefined }
  stryker.activeMutant = undefined
}
