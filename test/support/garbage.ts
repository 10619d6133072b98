import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')

/** Collects at once what nothing holds any more, as a busy process would sooner or later. */
export const collectGarbage = runInNewContext('gc') as () => void
