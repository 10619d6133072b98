import {
  blockCard,
  cancelCard,
  cardsSoldBy,
  entriesOf,
  freeMinor,
  getCard,
  listCards,
  resendCard,
  stateOf
} from '../../shop/gift-cards/cards.ts'
import type { GiftCardEntryRow, GiftCardRow } from '../../shop/gift-cards/cards.ts'
import { issueByOperator } from '../../shop/gift-cards/issue.ts'
import { isAllowed } from '../../shop/desk/roles.ts'
import { untilText } from '../../shop/settings/shop-days.ts'
import type { PageReply } from '../page.ts'
import type { Field } from '../storefront/form-view.ts'
import { commandOf, page, pagesOf, textFor, textOf } from './view.ts'
import type { Action, Block, DeskCall, DeskPage, Item } from './view.ts'

const perPage = 25
const idPart = String.raw`([1-9]\d{0,14})`
const tones = { active: 'good', empty: 'wait', expired: 'bad', blocked: 'bad' } as const

export const giftCardPages: readonly DeskPage[] = [
  { path: /^\/desk\/gift-cards$/, name: '/desk/gift-cards', needs: 'giftCards', show: showCards },
  {
    path: new RegExp(`^/desk/gift-cards/${idPart}$`),
    name: '/desk/gift-cards/:id',
    needs: 'giftCards',
    show: showOne
  }
]

function showCards(call: DeskCall): PageReply {
  const { app, query, words, visit } = call
  const { t } = words
  const search = textOf(query, 'search')
  const before = /^[1-9]\d{0,14}$/.exec(query.get('cursor') ?? '')?.[0]
  const found = listCards(app.db, {
    search,
    before: before === undefined ? undefined : Number(before),
    limit: perPage + 1
  })
  const shown = found.slice(0, perPage)
  const last = found.length > perPage ? shown.at(-1) : undefined
  const mayChange = isAllowed(visit.actor, 'giftCards.change')
  return page(call, {
    title: t('desk.giftCards'),
    back: { label: t('desk.everything'), url: '/desk/more' },
    blocks: [
      { kind: 'links', links: mayChange ? [{ label: t('desk.issueCard'), url: '/desk/gift-cards/issue' }] : [] },
      {
        kind: 'search',
        fields: [{ name: 'search', label: t('desk.searchCards'), type: 'text', value: search ?? '' }]
      },
      { kind: 'list', items: shown.map((card) => cardItem(call, card)), empty: t('desk.noCards') },
      pagesOf(call, last === undefined ? null : String(last.id))
    ],
    command: commandOf('gift-cards list', { search })
  })
}

function cardName({ words }: DeskCall, { id, lastFour }: GiftCardRow): string {
  return words.t('desk.giftCard', { id, lastFour })
}

function cardItem(call: DeskCall, card: GiftCardRow): Item {
  const { words, now } = call
  const state = stateOf(card, now)
  return {
    name: cardName(call, card),
    url: `/desk/gift-cards/${card.id}`,
    state: { label: textFor(call, 'desk.card', state), tone: tones[state] },
    amount: words.money(card.balanceMinor, card.currency),
    hints: [card.recipientEmail ?? '', words.time(card.createdAt)].filter(Boolean)
  }
}

/** The gift cards that an order sold, for its page. */
export function soldCardBlocks(call: DeskCall, orderId: number): Block[] {
  if (!isAllowed(call.visit.actor, 'giftCards')) return []
  const items = cardsSoldBy(call.app.db, orderId).map((card) => cardItem(call, card))
  return items.length === 0 ? [] : [{ kind: 'list', title: call.words.t('desk.giftCards'), items, empty: '' }]
}

function cardOf({ app, params }: DeskCall): GiftCardRow {
  return getCard(app.db, Number(params[0]))
}

function showOne(call: DeskCall): PageReply {
  const { app, words, now } = call
  const { t } = words
  const card = cardOf(call)
  const { currency, orderId, reason, recipientEmail, message, sendAt, expiresAt } = card
  const origin =
    orderId === null
      ? { label: t('desk.reason'), value: reason ?? '' }
      : { label: t('desk.soldBy'), value: t('desk.order', { id: orderId }), url: `/desk/orders/${orderId}` }
  const facts = [
    { label: t('desk.status'), value: textFor(call, 'desk.card', stateOf(card, now)) },
    { label: t('giftCard.balance'), value: words.money(card.balanceMinor, currency) },
    { label: t('desk.heldByOrders'), value: card.heldMinor === 0 ? '' : words.money(card.heldMinor, currency) },
    { label: t('desk.cardIssued'), value: words.money(card.issuedMinor, currency) },
    origin,
    { label: t('desk.recipient'), value: recipientEmail ?? '' },
    { label: t('giftCard.message'), value: message ?? '' },
    { label: t('desk.sentOn'), value: sendAt === null ? '' : words.time(card.mailedAt ?? sendAt) },
    { label: t('giftCard.until'), value: expiresAt === null ? '' : untilText(app.db, expiresAt) }
  ]
  return page(call, {
    title: cardName(call, card),
    back: { label: t('desk.giftCards'), url: '/desk/gift-cards' },
    blocks: [
      { kind: 'links', links: linksOf(call, card) },
      { kind: 'facts', rows: facts.filter(({ value }) => value !== '') },
      {
        kind: 'list',
        title: t('desk.history'),
        items: entriesOf(app.db, card.id).map((entry) => entryItem(call, card, entry)),
        empty: ''
      }
    ],
    command: `shopstead gift-cards show ${card.id}`
  })
}

function entryItem(call: DeskCall, { currency }: GiftCardRow, entry: GiftCardEntryRow): Item {
  const { words } = call
  const { kind, amountMinor, orderId, by, at } = entry
  const order = orderId === null ? {} : { url: `/desk/orders/${orderId}` }
  const about = orderId === null ? '' : ` · ${words.t('desk.order', { id: orderId })}`
  return {
    name: `${textFor(call, 'desk.cardEntry', kind)}${about}`,
    ...order,
    amount: words.money(amountMinor, currency),
    hints: [`${words.time(at)} · ${by}`]
  }
}

/** What can be done with a card in its state, if the person may. */
function linksOf({ visit, words, now }: DeskCall, card: GiftCardRow): { label: string; url: string }[] {
  if (!isAllowed(visit.actor, 'giftCards.change')) return []
  const { t } = words
  const isBlocked = card.blockedAt !== null
  const links: [boolean, string, string][] = [
    [stateOf(card, now) === 'active', t('desk.mailCard'), 'mail'],
    [!isBlocked, t('desk.blockCard'), 'block'],
    [isBlocked, t('desk.unblockCard'), 'unblock'],
    [card.orderId === null && freeMinor(card) > 0, t('desk.cancelCard'), 'cancel']
  ]
  return links
    .filter(([isShown]) => isShown)
    .map(([, label, verb]) => ({ label, url: `/desk/gift-cards/${card.id}/${verb}` }))
}

type Parts = {
  title: 'desk.mailCard' | 'desk.blockCard' | 'desk.unblockCard' | 'desk.cancelCard'
  text: (call: DeskCall) => string
  rows?: (call: DeskCall) => Field[][]
  known?: (card: GiftCardRow) => Readonly<Record<string, string>>
  confirm?: (call: DeskCall, card: GiftCardRow) => string
  options?: (form: URLSearchParams) => Readonly<Record<string, string | undefined>>
  run: (call: DeskCall, id: number, form: URLSearchParams) => unknown
}

/** An action on one gift card, which is refused when the card has changed since its form was shown. */
function cardAction(verb: string, { title, text, rows, known, confirm, options, run }: Parts): Action {
  return {
    path: new RegExp(`^/desk/gift-cards/${idPart}/${verb}$`),
    name: `/desk/gift-cards/:id/${verb}`,
    needs: 'giftCards.change',
    form: (call) => {
      const card = cardOf(call)
      return {
        title: call.words.t(title),
        text: text(call),
        rows: rows?.(call) ?? [],
        known: known?.(card) ?? {},
        submit: call.words.t(title),
        back: { label: cardName(call, card), url: `/desk/gift-cards/${card.id}` }
      }
    },
    version: (call) => JSON.stringify(cardOf(call)),
    ...(confirm === undefined ? {} : { confirm: (call) => confirm(call, cardOf(call)) }),
    command: (call, form) => commandOf(`gift-cards ${verb} ${cardOf(call).id}`, options?.(form)),
    run: (call, form) => {
      const { id } = cardOf(call)
      run(call, id, form)
      return `/desk/gift-cards/${id}`
    }
  }
}

const issueCard: Action = {
  path: /^\/desk\/gift-cards\/issue$/,
  name: '/desk/gift-cards/issue',
  needs: 'giftCards.change',
  form: ({ words }) => {
    const { t } = words
    return {
      title: t('desk.issueCard'),
      text: t('desk.issueCardText'),
      rows: [
        [{ name: 'amount', label: t('desk.amount'), required: true, hint: t('desk.priceHint') }],
        [{ name: 'reason', label: t('desk.reason'), required: true }],
        [{ name: 'to', label: t('desk.recipient'), type: 'email', hint: t('desk.recipientHint') }],
        [{ name: 'message', label: t('giftCard.message'), type: 'long' }],
        [
          { name: 'sendOn', label: t('desk.sendOn'), type: 'date' },
          { name: 'expires', label: t('desk.lastDay'), type: 'date' }
        ]
      ],
      submit: t('desk.issueCard'),
      back: { label: t('desk.giftCards'), url: '/desk/gift-cards' }
    }
  },
  // A second press of the button, or another person, must not issue a second card unnoticed.
  version: ({ app }) => String(listCards(app.db, { limit: 1 })[0]?.id ?? 0),
  command: (_call, form) =>
    commandOf('gift-cards issue', {
      amount: textOf(form, 'amount') ?? 'AMOUNT',
      reason: textOf(form, 'reason') ?? 'REASON',
      to: textOf(form, 'to'),
      message: textOf(form, 'message'),
      on: textOf(form, 'sendOn'),
      expires: textOf(form, 'expires')
    }),
  run: (call, form) => {
    const { app, by, now } = call
    const input = {
      amount: textOf(form, 'amount') ?? '',
      reason: textOf(form, 'reason') ?? '',
      to: textOf(form, 'to'),
      message: textOf(form, 'message'),
      sendOn: textOf(form, 'sendOn'),
      expires: textOf(form, 'expires')
    }
    const { card, code } = issueByOperator(app.db, input, now, by)
    // The email has the code of a card with a recipient.
    return card.recipientEmail === null ? codePage(call, card, code) : `/desk/gift-cards/${card.id}`
  }
}

function codePage(call: DeskCall, card: GiftCardRow, code: string): PageReply {
  const { t } = call.words
  return page(call, {
    title: t('desk.cardCode'),
    back: { label: cardName(call, card), url: `/desk/gift-cards/${card.id}` },
    blocks: [
      { kind: 'text', text: t('desk.cardCodeText'), isNote: true },
      { kind: 'code', text: code }
    ]
  })
}

export const giftCardActions: readonly Action[] = [
  issueCard,
  cardAction('mail', {
    title: 'desk.mailCard',
    text: ({ words }) => words.t('desk.mailCardText'),
    rows: ({ words }) => [[{ name: 'to', label: words.t('desk.recipient'), type: 'email', required: true }]],
    known: ({ recipientEmail }) => ({ to: recipientEmail ?? '' }),
    options: (form) => ({ to: textOf(form, 'to') }),
    run: ({ app, now }, id, form) => resendCard(app.db, id, textOf(form, 'to') ?? '', now)
  }),
  cardAction('block', {
    title: 'desk.blockCard',
    text: ({ words }) => words.t('desk.blockCardText'),
    run: ({ app, now }, id) => blockCard(app.db, id, true, now)
  }),
  cardAction('unblock', {
    title: 'desk.unblockCard',
    text: ({ words }) => words.t('desk.unblockCardText'),
    run: ({ app, now }, id) => blockCard(app.db, id, false, now)
  }),
  cardAction('cancel', {
    title: 'desk.cancelCard',
    text: ({ words }) => words.t('desk.cancelCardText'),
    confirm: ({ words }, card) =>
      words.t('desk.cancelCardSure', { amount: words.money(freeMinor(card), card.currency), id: card.id }),
    run: ({ app, by, now }, id) => cancelCard(app.db, id, by, now)
  })
]
