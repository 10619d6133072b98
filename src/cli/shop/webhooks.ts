import type { ShopCommand, Work } from '../run.ts'
import { Option } from 'commander'
import { AppError } from '../../errors.ts'
import { toIso, toIsoOrNull } from '../../platform/iso-time.ts'
import {
  deliveryCounts,
  deliveryStates,
  listDeliveries,
  replayDeliveries,
  replayFailed
} from '../../shop/webhooks/deliveries.ts'
import type { DeliveryState, ListedDelivery } from '../../shop/webhooks/deliveries.ts'
import { addEndpoint, getEndpoint, listEndpoints, removeEndpoint, rotateSecret } from '../../shop/webhooks/endpoints.ts'
import type { EndpointRow } from '../../shop/webhooks/endpoints.ts'
import { JsonList } from '../terminal/output.ts'
import type { Answer } from '../terminal/output.ts'
import { table, timeCell, timeText } from '../terminal/table.ts'
import type { Cell } from '../terminal/table.ts'
import { parseAge, parseLimit, parseId } from '../terminal/arguments.ts'
import { addCommand, confirmOrRefuse, runs } from '../run.ts'

const longestOverlapMs = 30 * 24 * 60 * 60_000

export function define(program: ShopCommand): void {
  const group = program.command('webhooks').description('webhook endpoints and their deliveries')
  runs(addCommand(group, 'list', 'list the endpoints with their number of deliveries', 'webhooks list'), list)
  const add = addCommand(
    group,
    'add <url>',
    'send events to an endpoint from now on (Standard Webhooks); prints its secret once',
    'webhooks add https://www.example.com/hooks/shop --types order.paid,order.refunded'
  )
    .option('--types <list>', 'comma-separated event types, see "shopstead events types" (default: all)')
    .option('--full', 'events contain their order, addresses and the email of the buyer')
  runs(add, addOne)
  const remove = addCommand(group, 'remove <id>', 'remove an endpoint and its queued deliveries', 'webhooks remove 2')
  runs(remove.option('--yes', 'do not ask for confirmation'), removeOne)
  const rotate = addCommand(
    group,
    'rotate <id>',
    'give an endpoint a new secret; prints it once',
    'webhooks rotate 2 --overlap 2d'
  ).option('--overlap <time>', 'how long the old secret also signs, such as 30m, 24h or 7d; 0 ends it now', '24h')
  runs(rotate, rotateOne)
  const deliveries = addCommand(
    group,
    'deliveries',
    'list deliveries with their state',
    'webhooks deliveries --state failed'
  )
    .option('--webhook <id>', 'only deliveries to this endpoint', parseId)
    .addOption(new Option('--state <state>', 'only deliveries in this state').choices([...deliveryStates]))
    .option('--limit <n>', 'maximum number, newest first', parseLimit, 50)
  runs(deliveries, listSent)
  const replay = addCommand(group, 'replay [delivery...]', 'send deliveries again', 'webhooks replay --failed')
    .option('--failed', 'all failed deliveries')
    .option('--webhook <id>', 'only to this endpoint (with --failed)', parseId)
  runs(replay, sendAgain)
}

function addOne({ app, options, now, terminal }: Work<{ types?: string; full?: boolean }>, url: string): Answer {
  const types = options.types?.split(',').map((type) => type.trim()) ?? null
  const { secret, ...endpoint } = addEndpoint(app.db, { url, types, full: options.full ?? false }, now)
  if (endpoint.url.startsWith('http:'))
    terminal.messages.warn('The URL is http, not https: others on the network can read the events.')
  if (endpoint.full)
    terminal.messages.warn(
      'Events contain the names, emails and addresses of buyers. The receiver must be allowed to process them.'
    )
  return {
    json: { webhook: toJson(endpoint), secret },
    human: [
      `Webhook ${endpoint.id}: ${endpoint.url}`,
      `Secret: ${secret}`,
      'Store the secret now: it is not shown again.'
    ]
  }
}

function rotateOne({ app, options, now }: Work<{ overlap: string }>, id: string): Answer {
  const overlapMs = options.overlap === '0' ? 0 : parseAge('--overlap', options.overlap)
  if (overlapMs > longestOverlapMs) throw new AppError('USAGE', '--overlap must be at most 30d.')
  const { secret, ...endpoint } = rotateSecret(app.db, parseId(id), overlapMs, now)
  const ends = endpoint.oldSecrets?.[0]?.endsAt ?? null
  return {
    json: { webhook: toJson(endpoint), secret, oldSecretEndsAt: toIsoOrNull(ends) },
    human: [
      `Webhook ${endpoint.id}: ${endpoint.url}`,
      `Secret: ${secret}`,
      'Store the secret now: it is not shown again.',
      ends === null
        ? 'The old secret has ended. The receiver refuses events until it has the new one; the shop sends them again.'
        : `Until ${timeText(ends)}, each event is signed with the old secret, too.`
    ]
  }
}

function list({ app }: Work<object>): Answer {
  const endpoints = listEndpoints(app.db).map((endpoint) => ({
    ...endpoint,
    counts: deliveryCounts(app.db, endpoint.id)
  }))
  const rows = endpoints.flatMap(({ id, url, counts, types, full }) => [
    [
      id,
      shorten(url, 34),
      counts.queued,
      counts.delivered,
      counts.failed,
      shorten(types?.join(' ') ?? 'all', 16),
      full ? 'full' : 'ids'
    ]
  ])
  return {
    json: { webhooks: endpoints.map(({ counts, ...endpoint }) => ({ ...toJson(endpoint), ...counts })) },
    human: table(['Id', 'Address', 'Queued', 'Sent', 'Failed', 'Events', 'Data'], rows, 'There are no webhooks.')
  }
}

async function removeOne({ app, options, terminal }: Work<{ yes?: boolean }>, id: string): Promise<Answer> {
  const { url } = getEndpoint(app.db, parseId(id))
  await confirmOrRefuse(terminal, `Remove ${url}?`, options)
  const removed = removeEndpoint(app.db, Number(id))
  return { json: { removed: toJson(removed) }, human: `${url} is removed.` }
}

function listSent({ app, options }: Work<{ webhook?: number; state?: DeliveryState; limit: number }>): Answer {
  const { webhook: endpointId, state, limit } = options
  const deliveries = listDeliveries(app.db, { endpointId, state, limit })
  const head = ['Id', 'To', 'Event', 'State', 'Tries', 'Error', 'Since']
  return {
    json: new JsonList('deliveries', deliveries.map(deliveryJson), () => ({})),
    human: table(head, deliveries.map(deliveryCells), 'There are no deliveries.')
  }
}

function deliveryCells({ id, endpointId, type, state, attempts, lastError, createdAt }: ListedDelivery): Cell[] {
  return [id, endpointId, type, state, attempts, lastError ?? '', timeCell(createdAt)]
}

function sendAgain({ app, options, now }: Work<{ failed?: boolean; webhook?: number }>, ids: string[]): Answer {
  if (ids.length > 0 === (options.failed ?? false))
    throw new AppError('USAGE', 'Name the deliveries to send again, or pass --failed.')
  const replayed = options.failed
    ? replayFailed(app.db, options.webhook, now)
    : replayDeliveries(app.db, ids.map(parseId), now)
  return { json: { replayed }, human: `The server sends ${replayed} deliveries again.` }
}

function toJson({ id, url, types, full, createdAt }: Omit<EndpointRow, 'secret' | 'oldSecrets'>): object {
  return { id, url, types, full, createdAt: toIso(createdAt) }
}

function deliveryJson(row: ListedDelivery): object {
  return {
    id: row.id,
    webhookId: row.endpointId,
    eventId: row.eventId,
    type: row.type,
    state: row.state,
    attempts: row.attempts,
    lastStatus: row.lastStatus,
    lastError: row.lastError,
    nextAttemptAt: row.state === 'queued' ? toIso(row.nextAttemptAt) : null,
    deliveredAt: toIsoOrNull(row.deliveredAt),
    createdAt: toIso(row.createdAt)
  }
}

function shorten(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`
}
