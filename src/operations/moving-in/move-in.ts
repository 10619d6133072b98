import { setFlagsFromString } from 'node:v8'
import type { App } from '../../app.ts'
import { AppError } from '../../errors.ts'
import { movedFrom } from '../../shop/moved/moved-rows.ts'
import { copyShop } from './copy-shop.ts'
import type { Move } from './move.ts'
import type { SubjectReport } from './report.ts'

export type MoveOptions = {
  /** Reports what would arrive, and changes nothing: the import runs on a copy of the shop. */
  isDryRun: boolean
  onStep: (text: string) => void
  /** Called when the shop begins to change. Its signal stops the import between two transactions. */
  interruption?: (() => { signal: AbortSignal } & Disposable) | undefined
}

/** What an import did, or would do. */
export type MoveReport = {
  /** The address of the other shop, or its name. */
  source: string
  isDryRun: boolean
  subjects: SubjectReport[]
}

/**
 * Moves another shop in: in the shop, or for a dry run on a copy of it. An import brings what is not here yet, so it can
 * be repeated and continues after an interruption. It sends no email and emits no event.
 *
 * @param source the name by which the shop remembers what moved in
 * @throws AppError CONFLICT when it was interrupted
 */
export async function moveIn(
  app: App,
  source: string,
  { isDryRun, onStep, interruption }: MoveOptions,
  work: (move: Move) => Promise<SubjectReport[]>
): Promise<SubjectReport[]> {
  // V8 lets the space of new objects grow to 128 MB in a process that reads so many rows. An import is a process of its own.
  setFlagsFromString('--semi-space-growth-factor=1')
  using stop = isDryRun ? undefined : interruption?.()
  using copy = isDryRun ? copyShop(app.db, app.config.dataDir) : undefined
  try {
    return await work({
      shop: { ...app, db: copy?.db ?? app.db },
      moved: movedFrom(source),
      isDryRun,
      now: app.clock.now(),
      signal: stop?.signal,
      step: onStep
    })
  } catch (cause) {
    if (stop?.signal.aborted !== true) throw cause
    const message = 'The import was interrupted. What has arrived stays: run it again to continue.'
    throw new AppError('CONFLICT', message, {}, { cause })
  }
}
