import { isObject } from '../../platform/typed.ts'
import { badParameter } from './errors.ts'
import { listAnswer } from './lists.ts'
import type { Store } from '../store/object-store.ts'

const maxDepth = 4
type Fields = Readonly<Record<string, unknown>>

/** Lists that an object includes only on request (docs.stripe.com/api/expanding_objects). */
const includable: { readonly [path: string]: (store: Store, object: Fields) => unknown } = {
  'checkout.session line_items': (store, { id }) => {
    const items = store.find('checkout.session', String(id))?.hidden.lineItems ?? []
    return listAnswer(items, `/v1/checkout/sessions/${String(id)}/line_items`)
  },
  'charge refunds': (store, { id }) =>
    listAnswer(
      store.list('refund', [{ field: 'charge', value: String(id) }]).objects,
      `/v1/charges/${String(id)}/refunds`
    ),
  'invoice payments': (store, { id }) =>
    listAnswer(store.list('invoice_payment', [{ field: 'invoice', value: String(id) }]).objects, '/v1/invoice_payments')
}

/**
 * A copy of the answer with the id at each path replaced by its object.
 *
 * @throws StripeRefusal for a path that cannot be expanded or is over four levels deep
 */
export function expandAnswer(store: Store, body: unknown, paths: readonly string[]): unknown {
  if (paths.length === 0) return body
  const copy = structuredClone(body)
  for (const path of paths) {
    const steps = path.split('.')
    if (steps.length > maxDepth) throw cannotExpand(path, 'You can expand up to four levels.')
    expandStep(store, copy, steps, path)
  }
  return copy
}

function expandStep(store: Store, target: unknown, steps: readonly string[], path: string): void {
  const [step, ...rest] = steps
  if (step === undefined || target === null || target === undefined) return
  if (Array.isArray(target)) {
    for (const each of target) expandStep(store, each, steps, path)
    return
  }
  if (!isObject(target)) throw cannotExpand(path)
  const value = expanded(store, target, step, path)
  Object.assign(target, { [step]: value })
  expandStep(store, value, rest, path)
}

function expanded(store: Store, fields: Fields, step: string, path: string): unknown {
  const value = fields[step]
  const include = includable[`${String(fields['object'])} ${step}`]
  if (value === undefined && include) return include(store, fields)
  if (typeof value === 'object') return value
  const found = typeof value === 'string' && step !== 'id' ? store.findAny(value) : undefined
  if (!found)
    throw cannotExpand(
      path,
      'object' in fields && fields['object'] === 'list' ? `You may want to try expanding 'data.${path}' instead.` : ''
    )
  return found.body
}

function cannotExpand(path: string, more = ''): Error {
  return badParameter(`This property cannot be expanded (${path.slice(0, 80)}). ${more}`.trim(), { param: 'expand' })
}
