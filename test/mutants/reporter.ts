import { appendFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { Reporter, TestCase, TestModule } from 'vitest/node'

/** A line of the report: a failed test, a file that could not run, or a file that ended. */
export type Reported = { file: string; failed?: string; state?: string }

function put(line: Reported): void {
  const { MUTANTS_REPORT } = process.env
  if (MUTANTS_REPORT !== undefined) appendFileSync(MUTANTS_REPORT, `${JSON.stringify(line)}\n`)
}

export default class implements Reporter {
  onTestCaseResult(test: TestCase): void {
    if (test.result().state === 'failed') put({ file: relative('.', test.module.moduleId), failed: test.fullName })
  }

  onTestModuleEnd(module: TestModule): void {
    const file = relative('.', module.moduleId)
    if (module.errors().length > 0) put({ file, failed: 'the file itself' })
    put({ file, state: module.state() })
  }

  onTestRunEnd(_modules: unknown, errors: readonly unknown[]): void {
    if (errors.length > 0) put({ file: '', failed: 'an error outside of tests' })
  }
}
