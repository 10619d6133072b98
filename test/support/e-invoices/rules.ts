import type { Terms } from './terms.ts'

/**
 * The business rules of EN 16931-1 (6.4) that are about what the shop calculates and decides, by their names. Each says
 * whether it holds. No package contains the official Schematron, so they are written here from the text of the standard; the
 * rules about rounding are stricter than it, which allows differences.
 */
const rules: Readonly<Record<string, (terms: Terms) => boolean>> = {
  'BR-02 number': ({ number }) => isFilled(number),
  'BR-03 date': ({ date }) => /^\d{4}-\d\d-\d\d$/.test(date ?? ''),
  'BR-04 type': ({ type }) => type === '380' || type === '381',
  'BR-05 currency': ({ currency, currencies }) =>
    /^[A-Z]{3}$/.test(currency ?? '') && currencies.every((code) => code === currency),
  'BR-06 seller name': ({ seller }) => isFilled(seller.name),
  'BR-07 buyer name': ({ buyer }) => isFilled(buyer.name),
  'BR-09 country of the seller': ({ seller }) => /^[A-Z]{2}$/.test(seller.country ?? ''),
  'BR-11 country of the buyer': ({ buyer }) => /^[A-Z]{2}$/.test(buyer.country ?? ''),
  'BR-16 a line': ({ lines }) => lines.length > 0,
  'BR-22 quantity': ({ lines }) => lines.every(({ quantity }) => Number(quantity) > 0),
  'BR-23 unit': ({ lines }) => lines.every(({ unit }) => isFilled(unit)),
  'BR-25 name of an item': ({ lines }) => lines.every(({ name }) => isFilled(name)),
  'BR-27 price not negative': ({ lines }) => lines.every(({ price }) => Number(price) >= 0),
  'BR-33 reason of an allowance': ({ adjustments }) => adjustments.every(({ reason }) => isFilled(reason)),
  'BR-55 preceding invoice': ({ preceding }) => preceding === null || isFilled(preceding.number),
  'BR-57 country of delivery': ({ deliverTo }) => deliverTo === null || isFilled(deliverTo.country),
  'BR-CO-04 category of a line': ({ lines }) => lines.every(({ tax }) => isFilled(tax.code)),
  'BR-CO-09 VAT ids have a country': ({ seller, buyer }) =>
    [seller.vatId, buyer.vatId].every((id) => id === null || /^[A-Z]{2}\w+$/.test(id)),
  'BR-CO-10 sum of lines': ({ lines, sums }) => cents(sums.lines) === sumOf(lines.map(({ net }) => net)),
  'BR-CO-11 sum of allowances': ({ adjustments, sums }) =>
    cents(sums.allowances) === sumOf(adjustments.flatMap(({ isCharge, amount }) => (isCharge ? [] : [amount]))),
  'BR-CO-12 sum of charges': ({ adjustments, sums }) =>
    cents(sums.charges) === sumOf(adjustments.flatMap(({ isCharge, amount }) => (isCharge ? [amount] : []))),
  'BR-CO-13 net total': ({ sums }) =>
    cents(sums.net) === cents(sums.lines) - cents(sums.allowances) + cents(sums.charges),
  'BR-CO-14 tax total': ({ taxes, sums }) => cents(sums.tax) === sumOf(taxes.map(({ amount }) => amount)),
  'BR-CO-15 total with tax': ({ sums }) => cents(sums.total) === cents(sums.net) + cents(sums.tax),
  'BR-CO-16 amount due': ({ sums }) => cents(sums.due) === cents(sums.total) - cents(sums.paid),
  // The tax of each rate is rounded for each line where prices include it, so it may differ by some cents.
  'BR-CO-17 tax of a rate': ({ taxes }) =>
    taxes.every(({ base, amount, percent }) => Math.abs(Number(base) * Number(percent) - Number(amount) * 100) < 100),
  'BR-CO-18 a breakdown': ({ taxes }) => taxes.length > 0,
  'BR-CO-26 seller identified': ({ seller }) => [...seller.ids, seller.vatId].some(isFilled),
  'BR-DEC two decimals': ({ lines, adjustments, taxes, sums }) =>
    [
      ...Object.values(sums),
      ...lines.flatMap(({ net, allowances }) => [net, ...allowances]),
      ...[...adjustments, ...taxes].map(({ amount }) => amount),
      ...taxes.map(({ base }) => base)
    ].every((amount) => /^-?\d+(\.\d{1,2})?$/.test(amount ?? '')),
  'a line is its quantity times its price, less its allowances': ({ lines }) =>
    lines.every(
      ({ net, quantity, price, allowances }) =>
        Math.round(Number(quantity) * Number(price) * 100) - sumOf(allowances) === cents(net)
    ),
  'BR-*-01 each category and rate is in the breakdown once': ({ lines, adjustments, taxes }) => {
    const used = new Set([...lines, ...adjustments].map(({ tax }) => keyOf(tax)))
    const listed = taxes.map(keyOf)
    return new Set(listed).size === listed.length && [...used].every((key) => listed.includes(key))
  },
  'BR-*-08 base of each category and rate': ({ lines, adjustments, taxes }) =>
    taxes.every(({ base, ...tax }) => {
      const ofLines = lines.filter((each) => keyOf(each.tax) === keyOf(tax)).map(({ net }) => cents(net))
      const others = adjustments
        .filter((each) => keyOf(each.tax) === keyOf(tax))
        .map(({ isCharge, amount }) => (isCharge ? cents(amount) : -cents(amount)))
      return [...ofLines, ...others].reduce((sum, each) => sum + each, 0) === cents(base)
    }),
  'BR-S-02 a taxed sale has a tax id of the seller': needs('S', hasTaxId),
  'BR-S-05 a taxed line has a rate': ({ lines }) =>
    lines.every(({ tax }) => tax.code !== 'S' || Number(tax.percent) > 0),
  'BR-S-10 a taxed sale has no reason': ({ taxes }) => hasNoReason(taxes, 'S'),
  'BR-Z-02 a zero rate has a tax id of the seller': needs('Z', hasTaxId),
  'BR-Z-10 a zero rate has no reason': ({ taxes }) => hasNoReason(taxes, 'Z'),
  'BR-E-02 an exempt sale has a tax id of the seller': needs('E', hasTaxId),
  'BR-AE-02 reverse charge has the ids of both': needs('AE', (terms) => hasTaxId(terms) && isFilled(terms.buyer.vatId)),
  'BR-IC-02 an intra-Community supply has the VAT ids of both': needs(
    'K',
    ({ seller, buyer }) => isFilled(seller.vatId) && isFilled(buyer.vatId)
  ),
  'BR-IC-11 an intra-Community supply has its date': needs('K', ({ deliveryDate }) => isFilled(deliveryDate)),
  'BR-IC-12 an intra-Community supply has its country': needs('K', ({ deliverTo }) =>
    isFilled(deliverTo?.country ?? null)
  ),
  'BR-G-02 an export has the VAT id of the seller': needs('G', ({ seller }) => isFilled(seller.vatId)),
  'BR-O-02 a sale that is not subject to VAT has no VAT ids': needs(
    'O',
    ({ seller, buyer }) => seller.vatId === null && buyer.vatId === null
  ),
  'BR-O-05 and it has no rate': ({ lines, taxes }) =>
    [...lines.map(({ tax }) => tax), ...taxes].every(({ code, percent }) => (code === 'O') === (percent === null)),
  'BR-O-11 and it stands alone': needs('O', ({ taxes }) => taxes.length === 1),
  'BR-*-09 and -05: without tax, the rate and the tax are zero': ({ taxes }) =>
    taxes.every(({ code, percent, amount }) => code === 'S' || (Number(percent) === 0 && cents(amount) === 0)),
  'BR-*-10 without tax, there is a reason': ({ taxes }) =>
    taxes.every(({ code, reason, reasonCode }) => code === 'S' || code === 'Z' || isFilled(reason ?? reasonCode)),
  'BR-CL-22 the reason has the code of its category': ({ taxes }) =>
    taxes.every(({ code, reasonCode }) => {
      const expected: Readonly<Record<string, string>> = { K: 'IC', AE: 'AE', G: 'G', O: 'O' }
      const named = expected[code ?? '']
      return named === undefined || reasonCode === `VATEX-EU-${named}`
    })
}

/** The rules that XRechnung 3.0 adds (KoSIT, chapter 12). */
const germanRules: typeof rules = {
  'BR-DE-02 a contact': ({ seller }) => seller.contact !== null,
  'BR-DE-03 and -04 city and postcode of the seller': ({ seller }) =>
    isFilled(seller.city) && isFilled(seller.postcode),
  'BR-DE-05 to -07 name, phone and email of the contact': ({ seller: { contact } }) =>
    [contact?.name, contact?.phone, contact?.email].every((part) => isFilled(part ?? null)),
  'BR-DE-08 and -09 city and postcode of the buyer': ({ buyer }) => isFilled(buyer.city) && isFilled(buyer.postcode),
  'BR-DE-10 and -11 city and postcode of the delivery': ({ deliverTo }) =>
    deliverTo === null || (isFilled(deliverTo.city) && isFilled(deliverTo.postcode)),
  'BR-DE-15 buyer reference': ({ buyerReference }) => isFilled(buyerReference),
  'BR-DE-16 a tax id of the seller': (terms) => terms.taxes.every(({ code }) => code === 'O') || hasTaxId(terms),
  'BR-DE-21 specification': ({ specification }) =>
    specification === 'urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0',
  'PEPPOL-EN16931-R010 and -R020 electronic addresses': ({ seller, buyer }) =>
    [seller, buyer].every(({ electronicAddress }) => electronicAddress?.scheme === 'EM')
}

/** The names of the rules that an invoice breaks. */
export function brokenRules(terms: Terms, of: 'EN 16931' | 'XRechnung' = 'EN 16931'): string[] {
  const all = of === 'XRechnung' ? { ...rules, ...germanRules } : rules
  return Object.entries(all).flatMap(([name, holds]) => (holds(terms) ? [] : [name]))
}

type Tax = { code: string | null; percent: string | null }

const keyOf = ({ code, percent }: Tax): string => `${code} ${percent}`
const isFilled = (text: string | null): boolean => (text ?? '').trim() !== ''
const cents = (amount: string | null): number => Math.round(Number(amount ?? Number.NaN) * 100)
const sumOf = (amounts: readonly (string | null)[]): number => amounts.reduce((sum, amount) => sum + cents(amount), 0)

function hasTaxId({ seller }: Terms): boolean {
  return isFilled(seller.vatId ?? seller.taxNumber)
}

function needs(category: string, holds: (terms: Terms) => boolean): (terms: Terms) => boolean {
  return (terms) => !terms.taxes.some(({ code }) => code === category) || holds(terms)
}

function hasNoReason(taxes: Terms['taxes'], category: string): boolean {
  return taxes.every(({ code, reason, reasonCode }) => code !== category || (reason === null && reasonCode === null))
}
