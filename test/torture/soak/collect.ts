/** Loaded into the server with `node --import`: SIGUSR2 runs a garbage collection, so that the heap shows only live objects. */
process.on('SIGUSR2', () => globalThis.gc?.())
