import type { Random } from '../random.ts'
import type { Trial } from '../part.ts'
import { bytesOf, describe, isLegal } from './draft.ts'
import type { Draft } from './draft.ts'
import { isBareRefusal, verifyAny } from './verify.ts'
import { Connection } from './connection.ts'
import type { Answer } from './connection.ts'
import type { WatchedShop } from './watched-shop.ts'

/** A group of related URLs under test. */
export type Target = {
  name: string
  /** The origin of the server. */
  url: string
  next(random: Random): TestCase
}

export type TestCase = {
  draft: Draft
  /** Returns the violations in a response that the shop sent, in addition to those of verifyAny. */
  verify(answer: Answer): string[]
}

/** Enough connections that those waiting for a timeout do not stop the others. */
const concurrency = 32
/** The maximum number of reports for one target. */
const maxReports = 8

/** Sends `times` requests to a target over several connections and verifies each response. */
export async function runTarget(target: Target, times: number, shop: WatchedShop, trial: Trial): Promise<void> {
  const random = trial.random.fork()
  const reports = new Map<string, string>()
  const statuses = new Map<string, number>()
  let left = times
  const worker = async (connection: Connection): Promise<void> => {
    while (left > 0 && reports.size < maxReports) {
      left -= 1
      const { draft, verify } = target.next(random)
      const legal = isLegal(draft)
      const bytes = bytesOf(draft, random)
      const pieces = random.oneIn(25) ? random.between(2, 4) : 1
      const answer = legal
        ? await connection.send(bytes, draft.method, pieces)
        : await connection.sendOnce(bytes, draft.method)
      const status = typeof answer === 'string' ? answer : String(answer.status)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      for (const wrong of problemsOf(answer, legal, verify, shop))
        reports.set(kindOf(wrong), `${wrong}\n${describe(draft)}`)
    }
  }
  const connections = Array.from({ length: concurrency }, () => new Connection(target.url))
  await Promise.all(connections.map(worker))
  for (const connection of connections) connection.close()
  for (const report of reports.values()) trial.violation(`${target.name}: ${report}`)
  for (const problem of new Map(shop.logProblems().map((line) => [kindOf(line), line])).values())
    trial.violation(`${target.name}: ${problem}`)
  trial.count(target.name, times - left)
  trial.figure(
    `${target.name}: ${[...statuses]
      .toSorted(([left], [right]) => left.localeCompare(right))
      .map(([status, count]) => `${status} ×${count}`)
      .join(', ')}`
  )
}

/** A report without ids and numbers, so that similar reports count as one. */
function kindOf(report: string): string {
  return report.slice(0, 300).replaceAll(/[\da-f-]{6,}|\d+/g, '')
}

function problemsOf(
  answer: Answer | string,
  legal: boolean,
  verify: TestCase['verify'],
  { secrets }: WatchedShop
): string[] {
  if (typeof answer === 'string') return legal ? [`no response: ${answer}`] : []
  const wrong = verifyAny(answer, secrets)
  return isBareRefusal(answer)
    ? [...wrong, ...(legal ? [`a ${answer.status} without an envelope`] : [])]
    : [...wrong, ...verify(answer)]
}
