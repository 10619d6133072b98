import { listEvents } from '../shop/events/list-events.ts'
import { eventTypes, isEventType } from '../shop/events/event-types.ts'
import type { ShopCommand } from './command.ts'
import { AppError } from '../errors.ts'
import { toIso } from '../platform/iso-time.ts'
import { parseLimit, parseRowId } from './numbers.ts'
import type { Answer } from './output.ts'
import { table, timeCell } from './table.ts'
import { addCommand, runs, runsOnFiles } from './run.ts'
import type { Work } from './run.ts'

export function define(program: ShopCommand): void {
  const group = program.command('events').description('what has happened in the shop')
  const list = addCommand(group, 'list', 'list events, newest first', 'events list --type order.paid --limit 10')
    .option('--type <type>', 'only events of this type')
    .option('--after <id>', 'only events after this one, oldest first', parseRowId)
    .option('--limit <n>', 'maximum number of events', parseLimit, 50)
  runs(list, 'migrated', listSome)
  runsOnFiles(addCommand(group, 'types', 'list the types of events', 'events types'), () => ({
    json: { types: Object.entries(eventTypes).map(([type, { about }]) => ({ type, about })) },
    human: table(
      ['Event', 'When'],
      Object.entries(eventTypes).map(([type, { about }]) => [type, about])
    )
  }))
}

function listSome({ app, options }: Work<{ type?: string; after?: number; limit: number }>): Answer {
  const { type, after, limit } = options
  if (type !== undefined && !isEventType(type))
    throw new AppError('USAGE', `Unknown event type "${type}". "shopstead events types" lists the types.`)
  const events = listEvents(app.db, { type, after, limit })
  const rows = events.map((event) => [
    event.id,
    timeCell(event.createdAt),
    event.type,
    Object.entries(event.payload)
      .map(([name, value]) => `${name} ${String(value)}`)
      .join(', ')
      .slice(0, 30)
  ])
  return {
    json: {
      events: events.map((event) => ({
        id: event.id,
        type: event.type,
        timestamp: toIso(event.createdAt),
        data: event.payload
      }))
    },
    human: rows.length === 0 ? 'There are no events.' : table(['Id', 'At', 'Event', 'Data'], rows)
  }
}
