/**
 * Loaded into the server that is soaked (`node --import`): on SIGUSR2 it collects what nobody uses any more, so that what
 * is left in its heap is what somebody holds.
 */
process.on('SIGUSR2', () => globalThis.gc?.())
