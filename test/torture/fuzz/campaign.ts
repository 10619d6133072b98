import type { Random } from '../random.ts'
import type { Trial } from '../part.ts'
import { bytesOf, describe, isLegal } from './draft.ts'
import type { Draft } from './draft.ts'
import { isBareRefusal, judgeAny } from './judge.ts'
import { Line } from './wire.ts'
import type { Answer } from './wire.ts'
import type { WatchedShop } from './watched-shop.ts'

/** One address, or a few of a kind, that requests are thrown at. */
export type Target = {
  name: string
  /** Origin of the process that answers. */
  url: string
  next(random: Random): Shot
}

export type Shot = {
  draft: Draft
  /** What is wrong with an answer that the server gave itself, beyond what is wrong with any. */
  judge(answer: Answer): string[]
}

/** Enough that those who wait for an answer that never comes leave nobody idle. */
const lanes = 32
/** Of one target: more of them would say the same again. */
const mostReports = 8

/** Sends `times` requests to a target over a few connections, and judges each answer. */
export async function fire(target: Target, times: number, shop: WatchedShop, trial: Trial): Promise<void> {
  const random = trial.random.fork()
  const reports = new Map<string, string>()
  const statuses = new Map<string, number>()
  let left = times
  const shoot = async (line: Line): Promise<void> => {
    while (left > 0 && reports.size < mostReports) {
      left -= 1
      const { draft, judge } = target.next(random)
      const legal = isLegal(draft)
      const bytes = bytesOf(draft, random)
      const pieces = random.oneIn(25) ? random.between(2, 4) : 1
      const answer = legal ? await line.ask(bytes, draft.method, pieces) : await line.askOnce(bytes, draft.method)
      const status = typeof answer === 'string' ? answer : String(answer.status)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      for (const wrong of judged(answer, legal, judge, shop)) reports.set(kindOf(wrong), `${wrong}\n${describe(draft)}`)
    }
  }
  const lines = Array.from({ length: lanes }, () => new Line(target.url))
  await Promise.all(lines.map(shoot))
  for (const line of lines) line.close()
  for (const report of reports.values()) trial.violation(`${target.name}: ${report}`)
  for (const complaint of new Map(shop.complaints().map((line) => [kindOf(line), line])).values())
    trial.violation(`${target.name}: ${complaint}`)
  trial.count(target.name, times - left)
  trial.figure(
    `${target.name}: ${[...statuses]
      .toSorted(([left], [right]) => left.localeCompare(right))
      .map(([status, count]) => `${status} ×${count}`)
      .join(', ')}`
  )
}

/** Two reports that differ in their ids and numbers alone tell the same. */
function kindOf(report: string): string {
  return report.slice(0, 300).replaceAll(/[\da-f-]{6,}|\d+/g, '')
}

function judged(answer: Answer | string, legal: boolean, judge: Shot['judge'], { secrets }: WatchedShop): string[] {
  if (typeof answer === 'string') return legal ? [`no answer: ${answer}`] : []
  const wrong = judgeAny(answer, secrets)
  return isBareRefusal(answer)
    ? [...wrong, ...(legal ? [`a bare ${answer.status}`] : [])]
    : [...wrong, ...judge(answer)]
}
