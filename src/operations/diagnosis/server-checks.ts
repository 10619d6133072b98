import { connect } from 'node:net'
import type { App } from '../../app.ts'
import { toIso } from '../../platform/iso-time.ts'
import { readFailedJobs } from '../failed-jobs.ts'
import { isServerRunning } from '../server-lock.ts'
import { failed, ok, warning } from './check.ts'
import type { Check, Finding } from './check.ts'

const timeoutMs = 2_000
/** What starts the server, for the advice of every check that needs it. */
export const startIt =
  'Start the server: "systemctl start shopstead". If it does not stay up, "journalctl -u shopstead -n 50" says why.'

export const serverChecks: readonly Check[] = [
  { name: 'server', run: checkServer },
  { name: 'background work', run: checkJobs }
]

/** A job that fails runs again at its next time, within an hour; the record ends when it succeeds. */
function checkJobs({ config }: App): Finding {
  const [first, ...others] = Object.entries(readFailedJobs(config.dataDir))
  if (first === undefined) return ok('No job failed in its last run.')
  const describe = ([job, { error, at }]: typeof first): string => `The job "${job}" failed at ${toIso(at)}: ${error}`
  return warning(
    [first, ...others].map(describe).join('\n'),
    '"journalctl -u shopstead -n 50" shows more. The server tries again by itself, at the latest after an hour; "systemctl restart shopstead" makes it try now.'
  )
}

async function checkServer({ config }: App): Promise<Finding> {
  if (isServerRunning(config.dataDir)) return ok('A server runs on this data folder.')
  const found = config.env === 'production' ? failed : warning
  if (config.port !== 0 && (await isTaken(config.host, config.port)))
    return found(
      `No server runs on this data folder, and another program listens on its port ${config.port}.`,
      `"ss -ltnp sport = :${config.port}" shows that program: stop it, or set SHOPSTEAD_PORT. ${startIt}`
    )
  return config.env === 'production'
    ? failed('No server runs on this data folder.', startIt)
    : ok('No server runs on this data folder.')
}

function isTaken(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: timeoutMs })
    const end = (taken: boolean) => () => {
      socket.destroy()
      resolve(taken)
    }
    socket.once('connect', end(true)).once('error', end(false)).once('timeout', end(false))
  })
}
