/** Counts responses, and lets one caller wait for a number of them. */
export class Traffic {
  private count = 0
  private waiting: { until: number; proceed: () => void } | undefined

  answered(): void {
    this.count += 1
    if (this.waiting !== undefined && this.count >= this.waiting.until) this.waiting.proceed()
  }

  /** Resolves after that many more responses. */
  wait(answers: number): Promise<void> {
    if (answers === 0) return Promise.resolve()
    return new Promise((proceed) => {
      this.waiting = { until: this.count + answers, proceed }
    })
  }
}
