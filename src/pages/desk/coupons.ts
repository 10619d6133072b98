import { AppError } from '../../errors.ts'
import { parseWith } from '../../platform/http/validation.ts'
import { toMinor } from '../../platform/money.ts'
import { createCoupon } from '../../shop/catalog/apply-catalog.ts'
import { inactiveReason } from '../../shop/catalog/coupon-rules.ts'
import { disableCoupon, getCoupon, listCoupons, toCoupon } from '../../shop/catalog/coupons.ts'
import { formatSchemas } from '../../shop/catalog/import/format.ts'
import { createSale, endSale, listSales } from '../../shop/catalog/manage/sales.ts'
import { isAllowed } from '../../shop/desk/roles.ts'
import { setting } from '../../shop/settings/settings.ts'
import { shopPlace, untilText } from '../../shop/settings/shop-days.ts'
import { compareKey } from '../../platform/text.ts'
import { numberOrText } from '../../platform/input-fields.ts'
import type { PageReply } from '../page.ts'
import { commandOf, listOf, page, refuseField, shellWord, textFor, textOf } from './view.ts'
import type { Action, DeskCall, DeskPage, Item } from './view.ts'

const most = 100
const back = ({ words }: DeskCall) => ({ label: words.t('desk.discounts'), url: '/desk/discounts' })

/** Coupons and sales. */
export const offerPages: readonly DeskPage[] = [
  { path: /^\/desk\/discounts$/, name: '/desk/discounts', needs: 'discounts', show: showDiscounts }
]

function showDiscounts(call: DeskCall): PageReply {
  const { app, words, visit, query, now } = call
  const { t } = words
  const mayChange = isAllowed(visit.actor, 'discounts.change')
  const search = textOf(query, 'search')
  const currency = setting(app.db, 'shop.currency')
  const coupons = [
    ...Iterator.from(listCoupons(app.db, (row) => ({ row, coupon: toCoupon(app.db, row, currency) })))
      .filter(({ row }) => search === undefined || row.codeKey.includes(compareKey(search)))
      .take(most)
  ]
  const sales = listSales(app.db, now).slice(0, most)
  return page(call, {
    title: t('desk.discounts'),
    blocks: [
      {
        kind: 'links',
        links: mayChange
          ? [
              { label: t('desk.newCoupon'), url: '/desk/discounts/coupon' },
              { label: t('desk.newSale'), url: '/desk/discounts/sale' }
            ]
          : []
      },
      {
        kind: 'list',
        title: t('desk.salesList'),
        items: sales.map(({ id, name, percentBps, startsAt, endsAt, products, state }): Item => ({
          name,
          state: { label: textFor(call, 'desk.sale', state), tone: state === 'running' ? 'good' : 'wait' },
          amount: `−${percentBps / 100} %`,
          hints: [
            t('desk.saleSpan', { from: words.time(startsAt), to: untilText(app.db, endsAt) }),
            t('desk.productCount', { count: products })
          ],
          ...(mayChange && state !== 'ended' ? { url: `/desk/discounts/sales/${id}` } : {})
        })),
        empty: t('desk.noSales')
      },
      {
        kind: 'search',
        fields: [{ name: 'search', label: t('desk.searchCoupons'), type: 'text', value: search ?? '' }]
      },
      {
        kind: 'list',
        title: t('desk.coupons'),
        items: coupons.map(({ row, coupon }): Item => {
          const reason = inactiveReason(row, now)
          const used = coupon.maxUses === null ? String(coupon.used) : `${coupon.used} / ${coupon.maxUses}`
          return {
            name: coupon.code,
            state: {
              label: textFor(call, 'desk.coupon', reason ?? 'on'),
              tone: reason === undefined ? 'good' : 'wait'
            },
            amount:
              coupon.percent === null
                ? `−${words.money(toMinor(coupon.amount ?? 0, currency), currency)}`
                : `−${coupon.percent} %`,
            hints: [
              t('desk.couponUsed', { count: used }),
              ...(coupon.exclusive ? [t('desk.exclusive')] : []),
              ...(row.endsAt === null ? [] : [t('desk.until', { day: untilText(app.db, row.endsAt) })]),
              ...[[...coupon.products, ...coupon.categories].join(', ')].filter(Boolean)
            ],
            ...(mayChange && row.enabled ? { url: `/desk/discounts/coupons/${encodeURIComponent(row.code)}` } : {})
          }
        }),
        empty: t('desk.noCoupons')
      }
    ],
    command: 'shopstead coupons list'
  })
}

const codeOf = ({ app, params }: DeskCall): string => getCoupon(app.db, params[0] ?? '').code

/** The name of a sale that has not ended. @throws AppError NOT_FOUND */
function saleName({ app, params, now }: DeskCall): string {
  const sale = listSales(app.db, now).find(({ id, state }) => id === Number(params[0]) && state !== 'ended')
  if (sale === undefined) throw new AppError('NOT_FOUND', 'This sale has ended, or does not exist.')
  return sale.name
}

export const offerActions: readonly Action[] = [
  {
    path: /^\/desk\/discounts\/coupon$/,
    name: '/desk/discounts/coupon',
    needs: 'discounts.change',
    form: (call) => {
      const { t } = call.words
      return {
        title: t('desk.newCoupon'),
        rows: [
          [{ name: 'code', label: t('desk.code'), required: true }],
          [
            { name: 'percent', label: t('desk.percent'), hint: t('desk.percentHint') },
            { name: 'amount', label: t('desk.orAmount'), hint: t('desk.priceHint') }
          ],
          [
            { name: 'startsAt', label: t('desk.from'), type: 'date' },
            { name: 'endsAt', label: t('desk.lastDay'), type: 'date' }
          ],
          [
            { name: 'maxUses', label: t('desk.maxUses') },
            { name: 'maxUsesPerCustomer', label: t('desk.maxUsesEach') }
          ],
          [{ name: 'minTotal', label: t('desk.minTotal') }],
          [{ name: 'exclusive', label: t('desk.exclusive'), type: 'tick' }],
          [{ name: 'products', label: t('desk.onlyProducts'), hint: t('desk.slugsHint') }],
          [{ name: 'categories', label: t('desk.onlyCategories'), hint: t('desk.listHint') }]
        ],
        submit: t('desk.newCoupon'),
        back: back(call)
      }
    },
    command: (_call, form) =>
      commandOf('coupons create', {
        code: textOf(form, 'code') ?? 'CODE',
        percent: textOf(form, 'percent'),
        amount: textOf(form, 'amount'),
        'starts-at': textOf(form, 'startsAt'),
        'ends-at': textOf(form, 'endsAt'),
        'max-uses': textOf(form, 'maxUses'),
        'max-uses-per-customer': textOf(form, 'maxUsesPerCustomer'),
        'min-total': textOf(form, 'minTotal'),
        exclusive: form.has('exclusive') || undefined,
        product: listOf(textOf(form, 'products')),
        category: listOf(textOf(form, 'categories'))
      }),
    run: ({ app, now, words }, form) => {
      const [percent, amount] = [textOf(form, 'percent'), textOf(form, 'amount')]
      if ((percent === undefined) === (amount === undefined))
        throw refuseField('percent', words.t('desk.percentOrAmount'))
      const input = {
        code: textOf(form, 'code') ?? '',
        amount,
        percent: numberOrText(percent),
        minTotal: textOf(form, 'minTotal'),
        startsAt: textOf(form, 'startsAt'),
        endsAt: textOf(form, 'endsAt'),
        maxUses: numberOrText(textOf(form, 'maxUses')),
        maxUsesPerCustomer: numberOrText(textOf(form, 'maxUsesPerCustomer')),
        exclusive: form.has('exclusive'),
        products: listOf(textOf(form, 'products')),
        categories: listOf(textOf(form, 'categories'))
      }
      createCoupon(app.db, parseWith(formatSchemas(shopPlace(app.db)).coupon, input), now)
      return '/desk/discounts'
    }
  },
  {
    path: /^\/desk\/discounts\/coupons\/([^/]+)$/,
    name: '/desk/discounts/coupons/:code',
    needs: 'discounts.change',
    form: (call) => ({
      title: call.words.t('desk.endCoupon', { code: codeOf(call) }),
      text: call.words.t('desk.endCouponText'),
      rows: [],
      submit: call.words.t('desk.end'),
      back: back(call)
    }),
    command: (call) => `shopstead coupons disable ${shellWord(codeOf(call))}`,
    run: (call) => {
      disableCoupon(call.app.db, codeOf(call))
      return '/desk/discounts'
    }
  },
  {
    path: /^\/desk\/discounts\/sale$/,
    name: '/desk/discounts/sale',
    needs: 'discounts.change',
    form: (call) => {
      const { t } = call.words
      return {
        title: t('desk.newSale'),
        text: t('desk.newSaleText'),
        rows: [
          [{ name: 'name', label: t('desk.name'), required: true }],
          [{ name: 'percent', label: t('desk.percent'), required: true, hint: t('desk.percentHint') }],
          [
            { name: 'from', label: t('desk.from'), type: 'date' },
            { name: 'to', label: t('desk.lastDay'), type: 'date', required: true }
          ],
          [{ name: 'category', label: t('desk.onlyCategory') }],
          [{ name: 'products', label: t('desk.onlyProducts'), hint: t('desk.slugsHint') }]
        ],
        submit: t('desk.newSale'),
        back: back(call)
      }
    },
    command: (_call, form) =>
      commandOf(`sales create ${shellWord(textOf(form, 'name') ?? 'NAME')}`, {
        percent: textOf(form, 'percent') ?? 'PERCENT',
        from: textOf(form, 'from'),
        to: textOf(form, 'to') ?? 'DAY',
        category: textOf(form, 'category'),
        product: listOf(textOf(form, 'products'))
      }),
    run: ({ app, now }, form) => {
      createSale(
        app.db,
        {
          name: textOf(form, 'name') ?? '',
          percent: numberOrText(textOf(form, 'percent')) ?? '',
          from: textOf(form, 'from'),
          to: textOf(form, 'to') ?? '',
          category: textOf(form, 'category'),
          slugs: listOf(textOf(form, 'products'))
        },
        now
      )
      return '/desk/discounts'
    }
  },
  {
    path: /^\/desk\/discounts\/sales\/([1-9]\d{0,14})$/,
    name: '/desk/discounts/sales/:id',
    needs: 'discounts.change',
    form: (call) => ({
      title: call.words.t('desk.endSale', { name: saleName(call) }),
      text: call.words.t('desk.endSaleText'),
      rows: [],
      submit: call.words.t('desk.end'),
      back: back(call)
    }),
    command: (call) => `shopstead sales end ${shellWord(saleName(call))}`,
    run: (call) => {
      endSale(call.app.db, saleName(call), call.now)
      return '/desk/discounts'
    }
  }
]
