import { toMinor } from '../../platform/money.ts'
import { decideAffiliate } from '../../shop/affiliates/decide.ts'
import { affiliateStatuses, getAffiliateById, listAffiliates } from '../../shop/affiliates/find.ts'
import type { AffiliateRow } from '../../shop/affiliates/find.ts'
import { isAllowed } from '../../shop/desk/roles.ts'
import type { AffiliateDecision } from '../../shop/mail/queue.ts'
import { giveBonus } from '../../shop/payouts/by-hand.ts'
import { listAdminPayouts, showPayout } from '../../shop/payouts/find.ts'
import type { AdminPayout } from '../../shop/payouts/find.ts'
import { failPayout } from '../../shop/payouts/fail.ts'
import { payPayouts } from '../../shop/payouts/pay.ts'
import { isPayable, planPayouts } from '../../shop/payouts/plan.ts'
import type { PayoutPlan } from '../../shop/payouts/plan.ts'
import { statementUrls } from '../../shop/payouts/statement.ts'
import { listAdminReferrals, showAffiliate, toAdminAffiliate } from '../../shop/referrals/admin.ts'
import { setting } from '../../shop/settings/settings.ts'
import type { PageReply } from '../page.ts'
import { commandOf, page, refuseField, textFor, textOf } from './view.ts'
import type { Action, Block, DeskCall, DeskPage, Item } from './view.ts'

const most = 100
const idPart = String.raw`([1-9]\d{0,14})`
const tones = { active: 'good', pending: 'wait', rejected: 'bad', inactive: 'bad' } as const
const payoutTones = { paid: 'good', failed: 'bad' } as const

export const affiliatePages: readonly DeskPage[] = [
  { path: /^\/desk\/affiliates$/, name: '/desk/affiliates', needs: 'affiliates', show: showAffiliates },
  {
    path: new RegExp(`^/desk/affiliates/${idPart}$`),
    name: '/desk/affiliates/:id',
    needs: 'affiliates',
    show: showOne
  },
  { path: new RegExp(`^/desk/payouts/${idPart}$`), name: '/desk/payouts/:id', needs: 'affiliates', show: showOnePayout }
]

function showAffiliates(call: DeskCall): PageReply {
  const { app, words, query } = call
  const { t } = words
  const status = affiliateStatuses.find((each) => each === textOf(query, 'status'))
  const search = textOf(query, 'search')?.toLowerCase()
  const found = [
    ...Iterator.from(listAffiliates(app.db, { status }, (row) => toAdminAffiliate(app.db, row, app.clock.now())))
      .filter(({ code, email }) => search === undefined || `${code} ${email}`.toLowerCase().includes(search))
      .take(most)
  ]
  const payouts = listAdminPayouts(app.db, { limit: 10 })
  return page(call, {
    title: t('desk.affiliates'),
    blocks: [
      dueBlock(call, duePlans(call)),
      {
        kind: 'search',
        fields: [
          { name: 'search', label: t('desk.searchAffiliates'), type: 'text', value: query.get('search') ?? '' },
          {
            name: 'status',
            label: t('desk.status'),
            type: 'text',
            value: status ?? '',
            options: affiliateStatuses.map((value) => ({ value, label: textFor(call, 'desk.affiliate', value) }))
          }
        ]
      },
      {
        kind: 'list',
        items: found.map((affiliate): Item => ({
          name: affiliate.code,
          url: `/desk/affiliates/${affiliate.id}`,
          state: { label: textFor(call, 'desk.affiliate', affiliate.status), tone: tones[affiliate.status] },
          amount: `${affiliate.rate} %`,
          hints: [affiliate.email]
        })),
        empty: t('desk.noAffiliates')
      },
      {
        kind: 'list',
        title: t('desk.payouts'),
        items: payouts.map((each) => payoutItem(call, each)),
        empty: t('desk.noPayouts')
      }
    ],
    command: commandOf('affiliates list', { status })
  })
}

function payoutItem(
  call: DeskCall,
  { id, affiliateCode, amountMinor, currency, state, createdAtUtc }: AdminPayout
): Item {
  const { words } = call
  return {
    name: words.t('desk.payoutTo', { id, code: affiliateCode }),
    url: `/desk/payouts/${id}`,
    state: { label: textFor(call, 'desk.payout', state), tone: payoutTones[state] },
    amount: words.money(amountMinor, currency),
    hints: [words.time(Date.parse(createdAtUtc))]
  }
}

function duePlans({ app, now }: DeskCall): PayoutPlan[] {
  return planPayouts(app.db, now, { livemode: app.cards?.livemode }).filter(isPayable)
}

function dueBlock({ words }: DeskCall, plans: readonly PayoutPlan[]): Block {
  const links = plans.length === 0 ? [] : [{ label: words.t('desk.pay'), url: '/desk/payouts/pay' }]
  return { kind: 'links', links }
}

function rowOf({ app, params }: DeskCall): AffiliateRow {
  return getAffiliateById(app.db, Number(params[0]))
}

function showOne(call: DeskCall): PageReply {
  const { app, words, visit } = call
  const { t } = words
  const row = rowOf(call)
  const { affiliate, balance, visits } = showAffiliate(app.db, row, app.clock.now())
  const money = (minor: number): string => words.money(minor, balance.currency)
  const mayChange = isAllowed(visit.actor, 'affiliates.change')
  const to = (verb: string): string => `/desk/affiliates/${row.id}/${verb}`
  const links = [
    ...(row.status === 'active' ? [] : [{ label: t('desk.approve'), url: to('approve') }]),
    ...(row.status === 'pending' ? [{ label: t('desk.reject'), url: to('reject') }] : []),
    ...(row.status === 'active' ? [{ label: t('desk.deactivate'), url: to('deactivate') }] : []),
    { label: t('desk.bonus'), url: to('bonus') }
  ]
  const referrals = listAdminReferrals(app.db, { affiliateId: row.id, limit: 25 })
  return page(call, {
    title: affiliate.code,
    back: { label: t('desk.affiliates'), url: '/desk/affiliates' },
    blocks: [
      { kind: 'links', links: mayChange ? links : [] },
      {
        kind: 'sums',
        rows: [
          { label: t('desk.pending'), value: money(balance.pendingMinor) },
          { label: t('desk.unpaid'), value: money(balance.unpaidMinor) },
          { label: t('desk.paidOut'), value: money(balance.paidMinor) }
        ]
      },
      {
        kind: 'facts',
        rows: [
          { label: t('desk.status'), value: textFor(call, 'desk.affiliate', affiliate.status) },
          { label: t('desk.rate'), value: `${affiliate.rate} %` },
          { label: t('email'), value: affiliate.email, url: `/desk/customers/${affiliate.userId}` },
          { label: t('desk.visits'), value: `${visits.visits} (${visits.conversionRate} %)` },
          ...(affiliate.website === null ? [] : [{ label: t('desk.website'), value: affiliate.website }]),
          ...(affiliate.message === null ? [] : [{ label: t('desk.note'), value: affiliate.message }]),
          {
            label: t('desk.terms'),
            value:
              affiliate.termsVersion === null ? t('desk.no') : `${affiliate.termsVersion}, ${affiliate.termsAcceptedAt}`
          }
        ]
      },
      {
        kind: 'list',
        title: t('desk.referrals'),
        items: referrals.map(({ orderId, amountMinor, currency, status, createdAtUtc }) => ({
          name: t('desk.order', { id: orderId }),
          url: `/desk/orders/${orderId}`,
          amount: words.money(amountMinor, currency),
          hints: [textFor(call, 'desk.referral', status), words.time(Date.parse(createdAtUtc))]
        })),
        empty: t('desk.noReferrals')
      },
      {
        kind: 'list',
        title: t('desk.payouts'),
        items: listAdminPayouts(app.db, { affiliateId: row.id, limit: 25 }).map((each) => payoutItem(call, each)),
        empty: t('desk.noPayouts')
      }
    ],
    command: `shopstead affiliates show ${affiliate.code}`
  })
}

function showOnePayout(call: DeskCall): PageReply {
  const { app, words, params, visit } = call
  const { t } = words
  const { payout, lines } = showPayout(app.db, Number(params[0]))
  const money = (minor: number): string => words.money(minor, payout.currency)
  const statement = statementUrls(app, { id: payout.id, createdAt: Date.parse(payout.createdAtUtc) })
  const mayFail = payout.state === 'paid' && isAllowed(visit.actor, 'affiliates.money')
  return page(call, {
    title: t('desk.payoutTo', { id: payout.id, code: payout.affiliateCode }),
    back: { label: t('desk.affiliates'), url: '/desk/affiliates' },
    blocks: [
      {
        kind: 'links',
        links: [
          { label: t('affiliate.statementPdf'), url: statement.pdfUrl },
          { label: t('affiliate.statementCsv'), url: statement.csvUrl },
          ...(mayFail ? [{ label: t('desk.failPayout'), url: `/desk/payouts/${payout.id}/fail` }] : [])
        ]
      },
      {
        kind: 'facts',
        rows: [
          { label: t('desk.status'), value: textFor(call, 'desk.payout', payout.state) },
          { label: t('desk.total'), value: money(payout.amountMinor) },
          { label: t('desk.placed'), value: `${words.time(Date.parse(payout.createdAtUtc))} · ${payout.paidBy}` },
          ...(payout.reference === null ? [] : [{ label: t('desk.reference'), value: payout.reference }]),
          ...(payout.failureReason === null ? [] : [{ label: t('desk.reason'), value: payout.failureReason }])
        ]
      },
      {
        kind: 'list',
        title: t('desk.lines'),
        items: lines.map(({ orderId, amountMinor }) => ({
          name: orderId === null ? t('desk.bonus') : t('desk.order', { id: orderId }),
          ...(orderId === null ? {} : { url: `/desk/orders/${orderId}` }),
          amount: money(amountMinor)
        })),
        empty: ''
      }
    ],
    command: `shopstead payouts show ${payout.id}`
  })
}

const decisions: readonly [AffiliateDecision, 'desk.approve' | 'desk.reject' | 'desk.deactivate'][] = [
  ['approve', 'desk.approve'],
  ['reject', 'desk.reject'],
  ['deactivate', 'desk.deactivate']
]

const back = (call: DeskCall) => {
  const { id, code } = rowOf(call)
  return { label: code, url: `/desk/affiliates/${id}` }
}

/** What is due, as text: the amount of each affiliate. */
function dueText({ app, words }: DeskCall, plans: readonly PayoutPlan[]): string {
  const each = plans.map(
    ({ affiliateId, amountMinor, currency }) =>
      `${getAffiliateById(app.db, affiliateId).code}: ${words.money(amountMinor, currency)}`
  )
  return each.join(', ')
}

export const affiliateActions: readonly Action[] = [
  ...decisions.map(([decision, title]): Action => ({
    path: new RegExp(`^/desk/affiliates/${idPart}/${decision}$`),
    name: `/desk/affiliates/:id/${decision}`,
    needs: 'affiliates.change',
    form: (call) => ({
      title: call.words.t(title),
      text: call.words.t(`${title}Affiliate`),
      rows: [],
      submit: call.words.t(title),
      back: back(call)
    }),
    version: (call) => rowOf(call).status,
    command: (call) => `shopstead affiliates ${decision} ${rowOf(call).code}`,
    run: (call) => {
      const { id } = decideAffiliate(call.app.db, rowOf(call).code, decision, call.now)
      return `/desk/affiliates/${id}`
    }
  })),
  {
    path: new RegExp(`^/desk/affiliates/${idPart}/bonus$`),
    name: '/desk/affiliates/:id/bonus',
    needs: 'affiliates.money',
    form: (call) => {
      const { t } = call.words
      return {
        title: t('desk.bonus'),
        text: t('desk.bonusText'),
        rows: [
          [{ name: 'amount', label: t('desk.amount'), required: true, hint: t('desk.bonusHint') }],
          [{ name: 'reason', label: t('desk.reason'), required: true }]
        ],
        submit: t('desk.bonus'),
        back: back(call)
      }
    },
    command: (call, form) =>
      commandOf(`affiliates bonus ${rowOf(call).code}`, {
        amount: textOf(form, 'amount') ?? 'AMOUNT',
        reason: textOf(form, 'reason') ?? 'REASON'
      }),
    run: (call, form) => {
      const typed = textOf(form, 'amount') ?? ''
      const unsigned = typed.replace(/^-/, '')
      const amountMinor = toMinor(unsigned, setting(call.app.db, 'shop.currency')) * (unsigned === typed ? 1 : -1)
      giveBonus(call.app.db, rowOf(call).code, { amountMinor, reason: textOf(form, 'reason') ?? '' }, call.now)
      return `/desk/affiliates/${rowOf(call).id}`
    }
  },
  {
    path: /^\/desk\/payouts\/pay$/,
    name: '/desk/payouts/pay',
    needs: 'affiliates.money',
    form: (call) => {
      const { t } = call.words
      const plans = duePlans(call)
      return {
        title: t('desk.pay'),
        text: plans.length === 0 ? t('desk.nothingDue') : dueText(call, plans),
        rows: [[{ name: 'reference', label: t('desk.reference'), hint: t('desk.referenceHint') }]],
        submit: t('desk.pay'),
        back: { label: t('desk.affiliates'), url: '/desk/affiliates' }
      }
    },
    version: (call) => JSON.stringify(duePlans(call)),
    confirm: (call) => call.words.t('desk.paySure', { list: dueText(call, duePlans(call)) }),
    command: (_call, form) => commandOf('payouts pay', { reference: textOf(form, 'reference') }),
    run: (call, form) => {
      const { app, now, by, words } = call
      const approved = duePlans(call)
      if (approved.length === 0) throw refuseField('reference', words.t('desk.nothingDue'))
      const reference = textOf(form, 'reference')
      payPayouts(
        app.db,
        { livemode: app.cards?.livemode, approved, by, ...(reference === undefined ? {} : { reference }) },
        now
      )
      return '/desk/affiliates'
    }
  },
  {
    path: new RegExp(`^/desk/payouts/${idPart}/fail$`),
    name: '/desk/payouts/:id/fail',
    needs: 'affiliates.money',
    form: (call) => {
      const { t } = call.words
      const { payout } = showPayout(call.app.db, Number(call.params[0]))
      return {
        title: t('desk.failPayout'),
        text: t('desk.failPayoutText'),
        rows: [[{ name: 'reason', label: t('desk.reason'), required: true }]],
        submit: t('desk.failPayout'),
        back: {
          label: t('desk.payoutTo', { id: payout.id, code: payout.affiliateCode }),
          url: `/desk/payouts/${payout.id}`
        }
      }
    },
    command: (call, form) =>
      commandOf(`payouts fail ${call.params[0] ?? ''}`, { reason: textOf(form, 'reason') ?? 'REASON' }),
    run: ({ app, params, by, now }, form) => {
      failPayout(app.db, Number(params[0]), { reason: textOf(form, 'reason') ?? '', by }, now)
      return `/desk/payouts/${Number(params[0])}`
    }
  }
]
