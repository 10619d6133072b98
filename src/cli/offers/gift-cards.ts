import type { App } from '../../app.ts'
import { AppError } from '../../errors.ts'
import { toIso } from '../../platform/iso-time.ts'
import { formatMoney, toMajor } from '../../platform/money.ts'
import {
  blockCard,
  cancelCard,
  entriesOf,
  findCard,
  freeMinor,
  getCard,
  listCards,
  resendCard,
  stateOf,
  toCard
} from '../../shop/gift-cards/cards.ts'
import type { GiftCardRow } from '../../shop/gift-cards/cards.ts'
import { issueByOperator } from '../../shop/gift-cards/issue.ts'
import { untilText } from '../../shop/settings/shop-days.ts'
import { addCommand, confirmOrRefuse, runs } from '../run.ts'
import type { ShopCommand, Work } from '../run.ts'
import { parseId, parsePageLimit } from '../terminal/arguments.ts'
import type { Answer } from '../terminal/output.ts'
import { plain, table, timeText } from '../terminal/table.ts'

type IssueOptions = {
  amount: string
  reason: string
  to?: string
  message?: string
  on?: string
  expires?: string
  language?: string
}

export function define(program: ShopCommand): void {
  const group = program.command('gift-cards').description('gift cards: what is on them is owed until it is used')
  const issuing = addCommand(
    group,
    'issue',
    'issue a gift card and print its code, which is not shown again',
    'gift-cards issue --amount 50 --reason "late parcel" --to lena@shop.example'
  )
    .requiredOption('--amount <n>', "what is on it, in the shop's currency")
    .requiredOption('--reason <text>', 'why it is issued, for the books')
    .option('--to <email>', 'send it to this person')
    .option('--message <text>', 'a message to the recipient')
    .option('--on <day>', 'the day on which the recipient gets it (default: now)')
    .option('--expires <day>', 'the last day on which it can be used (default: it does not expire)')
    .option('--language <tag>', 'the language of the email, such as de')
  runs(issuing, ({ app, options, now }: Work<IssueOptions>) => {
    const { amount, reason, to, message, on: sendOn, expires, language } = options
    const { card, code } = issueByOperator(app.db, { amount, reason, to, message, sendOn, expires, language }, now)
    const { json, human } = answer(app, card, now)
    return { json: { ...json, code }, human: [`Code: ${code}`, human].flat() }
  })
  const listing = addCommand(group, 'list', 'list the gift cards, the newest first', 'gift-cards list --limit 50')
    .option('--limit <n>', 'number of cards', parsePageLimit, 100)
    .option('--cursor <id>', 'continue after an earlier page, from its nextCursor', parseId)
    .option('--search <text>', 'only the card with this id or code, or those of a recipient with this email')
  runs(listing, list)
  runs(
    addCommand(group, 'show <id-or-code>', 'show a gift card and everything that changed it', 'gift-cards show 12'),
    ({ app, now }, name: string) => show(app, cardOf(app, name), now)
  )
  runs(
    addCommand(
      group,
      'block <id>',
      'block a gift card, such as a stolen one; what is on it stays',
      'gift-cards block 12'
    ),
    ({ app, now }, id: string) => answer(app, blockCard(app.db, parseId(id), true, now), now)
  )
  runs(
    addCommand(group, 'unblock <id>', 'let a blocked gift card pay again', 'gift-cards unblock 12'),
    ({ app, now }, id: string) => answer(app, blockCard(app.db, parseId(id), false, now), now)
  )
  const cancelling = addCommand(
    group,
    'cancel <id>',
    'take what is left on a gift card off it; for one that was sold, refund its order instead',
    'gift-cards cancel 12'
  ).option('--yes', 'do not ask for confirmation')
  runs(cancelling, async ({ app, options, now, terminal }: Work<{ yes?: boolean }>, text: string) => {
    const { id, currency, ...card } = getCard(app.db, parseId(text))
    const left = formatMoney(freeMinor(card), currency)
    await confirmOrRefuse(terminal, `Take the ${left} that are left on gift card ${id} off it?`, options)
    return answer(app, cancelCard(app.db, id, 'operator', now), now)
  })
  const mailing = addCommand(
    group,
    'mail <id>',
    'send a gift card to its recipient at once, also again',
    'gift-cards mail 12 --to lena@shop.example'
  ).option('--to <email>', 'send it to this person from now on')
  runs(mailing, ({ app, options, now }: Work<{ to?: string }>, id: string) => {
    const card = resendCard(app.db, parseId(id), options.to ?? null, now)
    const { json } = answer(app, card, now)
    return { json, human: plain(`Gift card ${card.id} is sent to ${card.recipientEmail ?? ''}.`) }
  })
}

/** @throws AppError NOT_FOUND */
function cardOf({ db }: App, name: string): GiftCardRow {
  if (/^[1-9]\d{0,14}$/.test(name)) return getCard(db, Number(name))
  const card = findCard(db, name)
  if (card === undefined) throw new AppError('NOT_FOUND', 'There is no gift card with this id or code.')
  return card
}

function list({ app, options, now }: Work<{ limit: number; cursor?: number; search?: string }>): Answer {
  const { limit, cursor, search } = options
  const found = listCards(app.db, { limit: limit + 1, before: cursor, search })
  const shown = found.slice(0, limit)
  const nextCursor = found.length > limit ? (shown.at(-1)?.id ?? null) : null
  const rows = shown.map((card) => [
    card.id,
    `…${card.lastFour}`,
    stateOf(card, now),
    formatMoney(card.balanceMinor, card.currency),
    formatMoney(card.issuedMinor, card.currency),
    card.orderId === null ? (card.reason ?? '') : `order ${card.orderId}`,
    timeText(card.createdAt)
  ])
  return {
    json: { giftCards: shown.map((card) => toCard(card, now)), nextCursor },
    human: [
      table(['Id', 'Code', 'State', 'Balance', 'Issued', 'Origin', 'Created'], rows),
      ...(nextCursor === null ? [] : [`There are more: add --cursor ${nextCursor}.`])
    ]
  }
}

function show(app: App, card: GiftCardRow, now: number) {
  const { json, human } = answer(app, card, now)
  const entries = entriesOf(app.db, card.id)
  const rows = entries.map(({ at, kind, amountMinor, orderId, by }) => [
    timeText(at),
    kind,
    formatMoney(amountMinor, card.currency),
    orderId === null ? '' : String(orderId),
    by
  ])
  const shown = entries.map(({ at, kind, amountMinor, orderId, by }) => ({
    at: toIso(at),
    kind,
    amount: toMajor(amountMinor, card.currency),
    orderId,
    by
  }))
  return { json: { ...json, entries: shown }, human: [...human, table(['At', 'What', 'Amount', 'Order', 'By'], rows)] }
}

function answer({ db }: App, card: GiftCardRow, now: number) {
  const { id, lastFour, currency, balanceMinor, heldMinor, reason, orderId, recipientEmail, sendAt, expiresAt } = card
  const held = heldMinor === 0 ? '' : ` (${formatMoney(heldMinor, currency)} held by unpaid orders)`
  const lines = [
    `Gift card ${id} (…${lastFour}): ${stateOf(card, now)}, ${formatMoney(balanceMinor, currency)}${held}`,
    orderId === null ? `issued: ${reason ?? ''}` : `sold by order ${orderId}`,
    ...(recipientEmail === null || sendAt === null ? [] : [`for ${recipientEmail}, sent from ${timeText(sendAt)}`]),
    ...(expiresAt === null ? [] : [`valid until ${untilText(db, expiresAt)}`])
  ]
  return { json: { giftCard: toCard(card, now) }, human: lines.map(plain) }
}
