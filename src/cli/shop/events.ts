import { AppError } from '../../errors.ts'
import { spanOf, parseDays } from '../../operations/reports/days.ts'
import { toIso } from '../../platform/iso-time.ts'
import { formatMoney } from '../../platform/money.ts'
import { eventTypes, isEventType } from '../../shop/events/event-types.ts'
import { listEvents } from '../../shop/events/list-events.ts'
import type { EventRow } from '../../shop/events/list-events.ts'
import { shopDay } from '../../shop/settings/shop-days.ts'
import type { ShopCommand, Work } from '../run.ts'
import { parseLimit, parseId } from '../terminal/arguments.ts'
import { JsonList } from '../terminal/output.ts'
import type { Answer } from '../terminal/output.ts'
import type { PeriodOptions } from '../../operations/reports/days.ts'
import { table, timeCell } from '../terminal/table.ts'
import type { Cell } from '../terminal/table.ts'
import { addCommand, runs, runsOnFiles } from '../run.ts'

const usualLimit = 50
/** Before all events. */
const firstDay = '1970-01-01'

export function define(program: ShopCommand): void {
  const group = program.command('events').description('what has happened in the shop')
  const list = addCommand(group, 'list', 'list events, newest first', 'events list --type order.paid --from 2026-01-31')
    .option('--type <type>', 'only events of this type')
    .option('--after <id>', 'only events after this one, oldest first', parseId)
    .option('--from <date>', 'only events of this day or later, in the time zone of the shop')
    .option('--to <date>', 'only events of this day or earlier')
    .option('--limit <n>', 'maximum number of events (default: 50; all with --from or --to)', parseLimit)
  runs(list, listSome)
  runsOnFiles(addCommand(group, 'types', 'list the types of events', 'events types'), () => ({
    json: { types: Object.entries(eventTypes).map(([type, { about }]) => ({ type, about })) },
    human: table(
      ['Event', 'When'],
      Object.entries(eventTypes).map(([type, { about }]) => [type, about])
    )
  }))
}

type ListOptions = PeriodOptions & { type?: string; after?: number; limit?: number }

function listSome({ app, options, now }: Work<ListOptions>): Answer {
  const { type, after, from, to, limit } = options
  if (type !== undefined && !isEventType(type))
    throw new AppError('USAGE', `Unknown event type "${type}". "shopstead events types" lists the types.`)
  const hasDays = from !== undefined || to !== undefined
  const span = hasDays
    ? spanOf(
        app.db,
        parseDays(options, shopDay(app.db, now), () => firstDay)
      )
    : undefined
  const events = listEvents(app.db, {
    type,
    after,
    from: span?.startsAt,
    to: span?.endsAt,
    limit: limit ?? (hasDays ? undefined : usualLimit)
  })
  return {
    json: new JsonList('events', events.map(toJson)),
    human: table(['Id', 'At', 'Event', 'By', 'Data'], events.map(toCells), 'There are no events.')
  }
}

function toJson({ id, type, createdAt, payload, by }: EventRow): object {
  return { id, type, timestamp: toIso(createdAt), by, data: payload }
}

function toCells({ id, type, createdAt, payload, by }: EventRow): Cell[] {
  return [id, timeCell(createdAt), type, by ?? '', describe(payload)]
}

/** `order 12, total 32.50 EUR`: the ids, amounts and texts of an event in words; `from (code mira, status active)`. */
function describe({ currency, ...data }: EventRow['payload']): string {
  return Object.entries(data)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => {
      const words = name.replace(/(Id|Minor)$/, '').replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
      const isAmount = name.endsWith('Minor') && typeof value === 'number' && typeof currency === 'string'
      return `${words} ${isAmount ? formatMoney(value, currency) : valueText(value)}`
    })
    .join(', ')
}

function valueText(value: unknown): string {
  if (Array.isArray(value)) return value.map(valueText).join(' ')
  return typeof value === 'object' && value !== null ? `(${describe({ ...value })})` : String(value)
}
