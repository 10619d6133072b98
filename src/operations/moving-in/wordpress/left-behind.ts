import { SubjectTally } from '../report.ts'
import type { SubjectReport } from '../report.ts'
import type { WordPress } from './database.ts'
import { text } from './values.ts'

/** What other plugins sold or keep, which the import does not bring, and its table. */
const plugins: readonly { subject: string; table: string }[] = [
  { subject: 'orders of Easy Digital Downloads', table: 'edd_orders' },
  { subject: 'affiliates of Affiliate Manager', table: 'wpam_affiliates' }
]

/** Reports what stays in the old shop, so that the owner does not switch it off without knowing. */
export async function leftBehind(source: WordPress): Promise<SubjectReport[]> {
  const reports: SubjectReport[] = []
  for (const { subject, table } of plugins) {
    const found = await countRows(source, table)
    const tally = new SubjectTally(subject)
    for (let row = 0; row < found; row += 1) tally.leave('The import does not bring them yet', '')
    if (found > 0) reports.push(tally.build())
  }
  return reports
}

async function countRows(source: WordPress, table: string): Promise<number> {
  const [row] = source.has(table) ? await source.rows(`SELECT count(*) AS found FROM {${table}}`) : []
  return Number(text(row ?? {}, 'found'))
}
