import { toMajor } from '../../platform/money.ts'
import { lineImage } from '../catalog/public/image.ts'
import type { Image } from '../catalog/public/image.ts'
import type { ShopContext } from '../context.ts'
import type { Problem, Refusal } from '../orders/problems.ts'
import { toTaxes, chargedShipping } from '../orders/totals.ts'
import type { TaxView } from '../orders/totals.ts'
import type { ChosenMethod } from '../shipping/input.ts'
import { lineAt, pathOf } from './cart-lines.ts'
import type { Sale } from './sale.ts'

type PartProblem = Omit<Problem, 'path'>

/** The answer of POST /store/quote (docs/contract.md 5.23). Amounts are in major units. */
export type Quote = {
  currency: string
  lines: {
    productId: number
    variationId: number | null
    name: string | null
    quantity: number
    unitPrice: number | null
    total: number
    image: Image | null
    problem: PartProblem | null
  }[]
  coupons: { code: string; accepted: boolean; problem: PartProblem | null }[]
  subtotal: number
  discount: number
  shipping: {
    required: boolean
    methods: (ChosenMethod & { amount: number })[]
    /** The id of a method. */
    chosen: string | null
    amount: number
  }
  tax: { included: boolean; amount: number; lines: TaxView[] }
  total: number
  payable: boolean
  problems: Problem[]
}

/** A sale and everything that prevents it, for a site. */
export function toQuote(
  { db, publicUrl }: Pick<ShopContext, 'db' | 'publicUrl'>,
  { cart, currency, shipping, totals }: Sale,
  refusals: readonly Refusal[]
): Quote {
  const { cartLines, lines } = cart
  const problems = refusals.map(({ problem }) => problem)
  const major = (minor: number): number => toMajor(minor, currency)
  const { subtotalMinor, discountMinor, shippingMinor, tax, totalMinor } = totals
  return {
    currency,
    lines: cartLines.map((line) => ({
      productId: line.productId,
      variationId: line.variationId,
      name: line.name,
      quantity: line.quantity,
      unitPrice: line.unitPriceMinor === null ? null : major(line.unitPriceMinor),
      total: major(lines.find(({ path }) => path === pathOf(line))?.totalMinor ?? 0),
      image: line.name === null ? null : lineImage(db, line, publicUrl()),
      problem: partOf(problems.find(({ path }) => lineAt(cartLines, path) === line))
    })),
    coupons: cart.codes.map(({ path, code }) => {
      const problem = partOf(problems.find((each) => each.path === path))
      return { code, accepted: problem === null, problem }
    }),
    subtotal: major(subtotalMinor),
    discount: major(discountMinor),
    shipping: {
      required: shipping.isRequired,
      methods: shipping.methods.map(({ amountMinor, ...method }) => ({
        ...method,
        amount: major(chargedShipping(cart.terms, { lines, shippingMinor: amountMinor, currency }))
      })),
      chosen: shipping.chosen?.id ?? null,
      amount: major(shippingMinor)
    },
    tax: { included: tax.included, amount: major(tax.amountMinor), lines: toTaxes(tax.lines, currency) },
    total: major(totalMinor),
    payable: problems.length === 0,
    problems
  }
}

function partOf(problem: Problem | undefined): PartProblem | null {
  if (problem === undefined) return null
  const { path: _path, ...part } = problem
  return part
}
