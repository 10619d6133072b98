import { t } from './texts.js'

const percent = new Intl.NumberFormat(document.documentElement.lang, { style: 'percent', maximumFractionDigits: 4 })

/**
 * The label and the amount of each tax, in a list of sums.
 *
 * @param {import('../../client/api-types.ts').BuyerOrder['taxes']} taxes
 * @param {boolean} included whether the prices contain them
 */
export function taxRows(taxes, included) {
  return taxes.map(({ name, ratePercent, amount }) => {
    const tax = ratePercent === 0 ? name : `${percent.format(ratePercent / 100)} ${name}`
    return [included ? t('sum.taxIncluded', { tax }) : tax, amount]
  })
}
