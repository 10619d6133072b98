import { Option } from 'commander'
import type { ShopCommand } from './command.ts'
import { toIso } from '../platform/iso-time.ts'
import { dismissWarning, listWarnings, warningKinds } from '../shop/payments/warnings.ts'
import type { WarningKind, WarningRow } from '../shop/payments/warnings.ts'
import { parseRowId } from './numbers.ts'
import { JsonList } from './output.ts'
import { table } from './table.ts'
import { addCommand, runs } from './run.ts'
import type { Work } from './run.ts'

/** Lists the payment warnings that `shopstead health` counts, and marks them as dealt with. */
export function defineWarnings(group: ShopCommand): void {
  const command = addCommand(group, 'warnings', 'list payments that need your attention', 'orders warnings --settled 3')
    .addOption(new Option('--kind <kind>', 'only warnings of this kind').choices(warningKinds))
    .option('--settled <id>', 'mark this warning as dealt with; health no longer reports it')
  runs(command, 'migrated', ({ app, options, now }: Work<{ settled?: string; kind?: WarningKind }>) => {
    const { settled, kind } = options
    if (settled !== undefined) dismissWarning(app.db, parseRowId(settled), now)
    const warnings = listWarnings(app.db, kind)
    return {
      json: new JsonList('warnings', warnings.map(toJson)),
      human: table(
        ['Id', 'Order', 'What'],
        warnings.map(({ id, orderId, message }) => [id, orderId, message]),
        'No payment needs your attention.'
      )
    }
  })
}

function toJson({ id, orderId, kind, objectId, message, createdAt }: WarningRow): object {
  return { id, orderId, kind, objectId, message, createdAt: toIso(createdAt) }
}
