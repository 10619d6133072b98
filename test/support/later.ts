import { onTestFinished, vi } from 'vitest'

/** Moves the system's clock forward until the test ends, for code that does not take the clock of the shop. */
export function laterBy(ms: number): void {
  vi.useFakeTimers({ now: Date.now() + ms, toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
}
