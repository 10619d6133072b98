import type { Db } from '../../platform/db/database.ts'
import { currentHoliday, endHoliday, startHoliday } from '../../shop/settings/holiday.ts'
import { addCommand, runs } from '../run.ts'
import type { ShopCommand, Work } from '../run.ts'
import type { Answer } from '../terminal/output.ts'
import { plain } from '../terminal/table.ts'

export function define(program: ShopCommand): void {
  const group = program.command('holiday').description('stop taking orders until the end of a day')
  const starting = addCommand(
    group,
    'start',
    'take no orders and no payments until the end of a day; subscriptions renew',
    'holiday start --until 2026-12-31 --message "We are back in the new year."'
  )
    .requiredOption('--until <day>', "its last day, as YYYY-MM-DD in the shop's time zone")
    .option('--message <text>', 'what pages, API and receipts say', '')
  runs(starting, ({ app, options, now }: Work<{ until: string; message: string }>) => {
    startHoliday(app.db, options, now)
    return answer(app.db, now)
  })
  runs(addCommand(group, 'end', 'take orders again', 'holiday end'), ({ app, now }) => {
    endHoliday(app.db)
    return answer(app.db, now)
  })
  runs(addCommand(group, 'show', 'show whether the shop is on holiday', 'holiday show'), ({ app, now }) =>
    answer(app.db, now)
  )
}

function answer(db: Db, now: number): Answer {
  const holiday = currentHoliday(db, now)
  const human =
    holiday === null
      ? 'The shop is not on holiday.'
      : `The shop is on holiday until the end of ${holiday.until}.${holiday.message === '' ? '' : ` It says: ${plain(holiday.message)}`}`
  return { json: { holiday }, human }
}
