import { ThreadsPoolWorker } from 'vitest/node'
import type { PoolOptions, PoolRunnerInitializer, PoolWorker, WorkerRequest } from 'vitest/node'

type Listener = (...args: unknown[]) => void

let sharedWorker: ThreadsPoolWorker | undefined

/**
 * A thread that outlives its run, so that thousands of mutants share one load of the shop's modules. A mutant that runs
 * while modules load (Stryker calls it static) gets a new thread.
 */
class LastingWorker implements PoolWorker {
  readonly name = 'lasting'
  readonly #project: PoolOptions['project']
  readonly #lasts: boolean
  readonly #isRunning: boolean
  readonly #worker: ThreadsPoolWorker
  readonly #listeners: { event: string; listener: Listener }[] = []

  constructor(options: PoolOptions) {
    this.#project = options.project
    const { mode, mutantActivation } = options.project.getProvidedContext() as Record<string, unknown>
    this.#lasts = mode === 'mutant' && mutantActivation !== 'static'
    this.#isRunning = this.#lasts && sharedWorker !== undefined
    this.#worker = this.#lasts ? (sharedWorker ??= new ThreadsPoolWorker(options)) : new ThreadsPoolWorker(options)
  }

  on(event: string, listener: Listener): void {
    this.#listeners.push({ event, listener })
    this.#worker.on(event, listener)
  }

  off(event: string, listener: Listener): void {
    this.#worker.off(event, listener)
  }

  deserialize(data: unknown): unknown {
    return this.#worker.deserialize(data)
  }

  async start(): Promise<void> {
    if (!this.#isRunning) await this.#worker.start()
  }

  send(message: WorkerRequest): void {
    if (this.#lasts && message.type === 'stop') this.#answer('stopped')
    else if (this.#isRunning && message.type === 'start') this.#answer('started')
    else this.#worker.send(message.type === 'run' ? this.#withTestNames(message) : message)
  }

  async stop(): Promise<void> {
    if (!this.#lasts) return this.#worker.stop()
    for (const { event, listener } of this.#listeners) this.#worker.off(event, listener)
  }

  /** Emits the thread's answer to a start or stop request that it does not receive. */
  #answer(type: 'started' | 'stopped'): void {
    const heard = this.#listeners.filter(({ event }) => event === 'message')
    setImmediate(() => heard.forEach(({ listener }) => listener({ type, __vitest_worker_response__: true })))
  }

  /** Adds this run's test names, because the thread keeps the configuration of its first run. */
  #withTestNames(message: WorkerRequest & { type: 'run' }): WorkerRequest {
    const { testNamePattern } = this.#project.config
    if (testNamePattern === undefined) return message
    const files = message.context.files.map((file) => ({ ...file, testNamePattern }))
    return { ...message, context: { ...message.context, files } }
  }
}

export const lastingPool: PoolRunnerInitializer = {
  name: 'lasting',
  createPoolWorker: (options) => new LastingWorker(options)
}
