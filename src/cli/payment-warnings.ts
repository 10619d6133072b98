import { Option } from 'commander'
import type { ShopCommand } from './command.ts'
import { toIso } from '../platform/iso-time.ts'
import { dismissWarning, openWarnings, warningKinds } from '../shop/payments/warnings.ts'
import type { WarningKind } from '../shop/payments/warnings.ts'
import { parseRowId } from './numbers.ts'
import { table } from './output.ts'
import { addCommand, runs } from './run.ts'
import type { Work } from './run.ts'

/** What `shopstead health` warns of, and the word that somebody has dealt with it. */
export function defineWarnings(group: ShopCommand): void {
  const command = addCommand(group, 'warnings', 'payments that somebody has to look at', 'orders warnings --settled 3')
    .addOption(new Option('--kind <kind>', 'only warnings of this kind').choices(warningKinds))
    .option('--settled <id>', 'this one has been dealt with; health is silent about it from now on')
  runs(command, 'migrated', ({ app, options, now }: Work<{ settled?: string; kind?: WarningKind }>) => {
    const { settled, kind } = options
    if (settled !== undefined) dismissWarning(app.db, parseRowId(settled), now)
    const warnings = openWarnings(app.db, kind).map(({ id, orderId, kind, objectId, message, createdAt }) => ({
      id,
      orderId,
      kind,
      objectId,
      message,
      createdAt: toIso(createdAt)
    }))
    const rows = warnings.map(({ id, orderId, message }) => [id, orderId, message])
    return {
      json: { warnings },
      human: warnings.length === 0 ? 'Nothing to look at.' : table(['Id', 'Order', 'What'], rows)
    }
  })
}
