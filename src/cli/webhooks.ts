import type { ShopCommand } from './command.ts'
import { Option } from 'commander'
import { AppError } from '../errors.ts'
import { toIso, toIsoOrNull } from '../platform/iso-time.ts'
import {
  deliveryCounts,
  deliveryStates,
  listDeliveries,
  replayDeliveries,
  replayFailed
} from '../shop/webhooks/deliveries.ts'
import type { DeliveryState, ListedDelivery } from '../shop/webhooks/deliveries.ts'
import { addEndpoint, getEndpoint, listEndpoints, removeEndpoint } from '../shop/webhooks/endpoints.ts'
import type { EndpointRow } from '../shop/webhooks/endpoints.ts'
import { table } from './output.ts'
import type { Answer } from './output.ts'
import { parseLimit, parseRowId } from './numbers.ts'
import { addCommand, confirmOrRefuse, runs } from './run.ts'
import type { Work } from './run.ts'

export function define(program: ShopCommand): void {
  const group = program.command('webhooks').description('addresses that hear of what happens in the shop')
  runs(addCommand(group, 'list', 'every address with what it has been sent', 'webhooks list'), 'migrated', list)
  const add = addCommand(
    group,
    'add <url>',
    'tell an address of events from now on (Standard Webhooks); prints its secret, this once',
    'webhooks add https://www.example.com/hooks/shop --types order.paid,order.refunded'
  ).option('--types <list>', 'comma list of the events it wants ("shopstead events types"; default: all)')
  runs(add, 'migrated', addOne)
  const remove = addCommand(
    group,
    'remove <id>',
    'forget an address and what is still to be sent to it',
    'webhooks remove 2'
  )
  runs(remove.option('--yes', 'do not ask'), 'migrated', removeOne)
  const deliveries = addCommand(
    group,
    'deliveries',
    'what was sent, and how it went',
    'webhooks deliveries --state failed'
  )
    .option('--webhook <id>', 'of one address', parseRowId)
    .addOption(new Option('--state <state>', 'in one state').choices([...deliveryStates]))
    .option('--limit <n>', 'at most so many, the newest first', parseLimit, 50)
  runs(deliveries, 'migrated', listSent)
  const replay = addCommand(group, 'replay [delivery...]', 'send deliveries again', 'webhooks replay --failed')
    .option('--failed', 'all that were given up')
    .option('--webhook <id>', 'of one address only (with --failed)', parseRowId)
  runs(replay, 'migrated', sendAgain)
}

function addOne({ app, options, now, terminal }: Work<{ types?: string }>, url: string): Answer {
  const types = options.types?.split(',').map((type) => type.trim()) ?? null
  const { secret, ...endpoint } = addEndpoint(app.db, { url, types }, now)
  if (endpoint.url.startsWith('http:'))
    terminal.messages.warn('http, not https: whoever is in between can read the events.')
  return {
    json: { webhook: toJson(endpoint), secret },
    human: [`Webhook ${endpoint.id}: ${endpoint.url}`, `Secret: ${secret}`, 'It is not shown again.']
  }
}

function list({ app }: Work<object>): Answer {
  const endpoints = listEndpoints(app.db).map((endpoint) => ({
    ...endpoint,
    counts: deliveryCounts(app.db, endpoint.id)
  }))
  const rows = endpoints.flatMap(({ id, url, counts, types }) => [
    [id, shorten(url, 34), counts.queued, counts.delivered, counts.failed, shorten(types?.join(' ') ?? 'all', 16)]
  ])
  return {
    json: { webhooks: endpoints.map(({ counts, ...endpoint }) => ({ ...toJson(endpoint), ...counts })) },
    human: rows.length === 0 ? 'There are none.' : table(['Id', 'Address', 'Queued', 'Sent', 'Failed', 'Events'], rows)
  }
}

async function removeOne({ app, options, json, terminal }: Work<{ yes?: boolean }>, id: string): Promise<Answer> {
  const { url } = getEndpoint(app.db, parseRowId(id))
  if (terminal.stdin.isTTY && !json) await confirmOrRefuse(terminal, `Forget ${url}?`, options)
  const removed = removeEndpoint(app.db, Number(id))
  return { json: { removed: toJson(removed) }, human: `${url} hears of nothing any more.` }
}

function listSent({ app, options }: Work<{ webhook?: number; state?: DeliveryState; limit: number }>): Answer {
  const { webhook: endpointId, state, limit } = options
  const found = listDeliveries(app.db, { endpointId, state, limit })
  const rows = found.map((row) => [
    row.id,
    row.endpointId,
    row.type,
    row.state,
    row.attempts,
    row.lastError ?? '',
    toIso(row.createdAt).slice(0, 16)
  ])
  return {
    json: { deliveries: found.map(deliveryJson) },
    human:
      rows.length === 0 ? 'There are none.' : table(['Id', 'To', 'Event', 'State', 'Tries', 'Trouble', 'Since'], rows)
  }
}

function sendAgain({ app, options, now }: Work<{ failed?: boolean; webhook?: number }>, ids: string[]): Answer {
  if (ids.length > 0 === (options.failed ?? false))
    throw new AppError('USAGE', 'Name the deliveries to send again, or say --failed.')
  const replayed = options.failed
    ? replayFailed(app.db, options.webhook, now)
    : replayDeliveries(app.db, ids.map(parseRowId), now)
  return { json: { replayed }, human: `${replayed} will be sent again while the server runs.` }
}

function toJson({ id, url, types, createdAt }: Omit<EndpointRow, 'secret'>): object {
  return { id, url, types, createdAt: toIso(createdAt) }
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
