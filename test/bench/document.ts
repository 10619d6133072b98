import { report } from './report.ts'
import type { Run } from './results.ts'

const introduction = `# Benchmarks

\`npm run bench\` compares the packed package with bare \`node:http\`. The reference in \`test/bench/reference\` sends the
same bytes from memory, or builds the same bytes with the best SQL we know, without a framework and without any checks.
The benchmark creates a shop with 1,000 products, 100,000 orders, 20,000 users and 1,000,000 referrals of one affiliate.
It gives one core to the server and the other to the load generator (\`wrk\`, from the Debian package of that name), and
measures both sides alternately. All rules of the API are on: envelope, request ids, session, validation, limits and the
log line, which goes to /dev/null.

\`\`\`sh
npm run bench                      # everything, over an hour; needs Linux, wrk and a quiet machine
npm run bench -- --only me,orders  # these rows alone
npm run bench -- --list            # the names of the rows
npm run bench -- --check           # exit code 1 when a result misses its target
npm run bench -- --write           # write this page; rows that the run leaves out stay as they are
npm run bench -- --short           # the form of CI, in minutes: fails for another answer or a refused request
npm run bench:old-shop             # a shop of ten years beside a new one: requests, pages, commands, jobs
npm run torture -- operators       # each piece of operators' work beside buyers at a fixed rate
\`\`\`

- A ratio is Shopstead's figure divided by the reference's. On a machine with other work, the CPU ratio says more than the
  ratio of requests: it compares the CPU time of one request.
- "Carries a day" is what the requests per second mean for a day whose busiest hour has a tenth of its requests.
- The row \`growth\` has a shop with many of one thing, such as unpaid orders, and one with a tenth of them, and compares the
  CPU time of the requests that could become slower. Its times are those of the large and of the small shop.
- The row \`everything\` compares a shop with 1,000,000 orders and users, 100,000 products and 10,000,000 events with one that
  has a tenth of each. Searches that find ten times as many products, and \`--search\` of the command line, take longer there:
  they read every match.
- In \`flash-sale\`, 100,000 guests send one cart each. They do not pay during the measurement.

The benchmark itself writes everything below this line: the day, the commit, the machine and the figures of each run.
`

/** The text of docs/benchmarks.md. */
export function benchmarksPage(runs: readonly Run[]): string {
  const sections = runs.map((run) => `## ${run.date}, commit ${run.commit}\n\n${rowsOf(run)}\n\n${report(run)}\n`)
  return [introduction, ...sections].join('\n')
}

function rowsOf({ rows }: Run): string {
  return `Rows: ${Object.keys(rows).join(', ')}.`
}
