import type Stripe from 'stripe'
import { recordMovement, transactionsOf } from './balance.ts'
import { getStored, route, save } from '../http/context.ts'
import type { Context, Route } from '../http/context.ts'
import { badState } from '../http/errors.ts'
import { emit } from '../events/events.ts'
import { idOf, newId } from '../store/ids.ts'
import { filtersOf, listPage, pageShape } from '../http/lists.ts'
import { flag, mergeMetadata, metadata, shape, text } from '../http/params.ts'
import type { Values } from '../http/params.ts'

const evidenceDays = 9

/**
 * Opens a dispute for the rest of a charge and emits its events. The customer's bank withdraws the amount until the
 * dispute is decided; an inquiry withdraws nothing.
 */
export function openDispute(
  context: Context,
  charge: Stripe.Charge,
  by: { reason: string; inquiry?: true; amount?: number }
): Stripe.Dispute {
  const dispute = {
    id: newId('dp'),
    object: 'dispute',
    amount: by.amount ?? charge.amount - charge.amount_refunded,
    balance_transactions: [],
    charge: charge.id,
    created: context.now,
    currency: charge.currency,
    enhanced_eligibility_types: [],
    evidence: {} as Stripe.Dispute.Evidence,
    evidence_details: {
      due_by: context.now + evidenceDays * 86_400,
      enhanced_eligibility: {},
      has_evidence: false,
      past_due: false,
      submission_count: 0,
      submission_method: null as unknown as Stripe.Dispute.EvidenceDetails['submission_method']
    },
    intended_submission_method: null,
    is_charge_refundable: by.inquiry === true,
    livemode: false,
    metadata: {},
    payment_intent: idOf(charge.payment_intent),
    reason: by.reason,
    status: by.inquiry ? 'warning_needs_response' : 'needs_response'
  } satisfies Stripe.Dispute
  save(context, 'dispute', dispute)
  save(context, 'charge', { ...charge, disputed: true })
  emit(context, 'charge.dispute.created', dispute)
  if (by.inquiry) return dispute
  const withdrawn = move(context, dispute, 'dispute')
  emit(context, 'charge.dispute.funds_withdrawn', withdrawn)
  return withdrawn
}

/** Closes a dispute as won or lost and emits its events. A closed dispute is returned unchanged. */
export function decideDispute(context: Context, dispute: Stripe.Dispute, outcome: 'won' | 'lost'): Stripe.Dispute {
  if (isDecided(dispute)) return dispute
  const isReturned = outcome === 'won' && dispute.balance_transactions.length > 0
  const current = isReturned ? move(context, dispute, 'dispute_reversal') : dispute
  const decided = save(context, 'dispute', { ...current, status: outcome, is_charge_refundable: false })
  if (outcome === 'won') emit(context, 'charge.dispute.funds_reinstated', decided)
  emit(context, 'charge.dispute.closed', decided)
  return decided
}

/** Moves the disputed amount out of the balance, or back. */
function move(context: Context, dispute: Stripe.Dispute, category: 'dispute' | 'dispute_reversal'): Stripe.Dispute {
  const { id: source, amount, currency } = dispute
  const signed = category === 'dispute' ? -amount : amount
  recordMovement(context, { type: 'adjustment', category, amount: signed, currency, source })
  return save(context, 'dispute', { ...dispute, balance_transactions: transactionsOf(context, source) })
}

function isDecided(dispute: Stripe.Dispute): boolean {
  return ['won', 'lost', 'warning_closed', 'prevented'].includes(dispute.status)
}

const updateShape = {
  evidence: shape({
    uncategorized_text: text({ max: 20_000 }),
    product_description: text({ max: 20_000 }),
    customer_name: text()
  }),
  metadata: metadata(),
  submit: flag()
}

/** The texts `winning_evidence` and `losing_evidence` decide the dispute, as in Stripe's test mode. */
function updateDispute(context: Context, params: Values<typeof updateShape>, id: string): Stripe.Dispute {
  const { object } = getStored(context, 'dispute', id)
  if (isDecided(object)) throw badState('This dispute is already closed.')
  const evidenceText = params.evidence?.uncategorized_text
  const updated = save(context, 'dispute', {
    ...object,
    metadata: mergeMetadata(object.metadata, params.metadata),
    evidence: { ...object.evidence, ...(evidenceText === undefined ? {} : { uncategorized_text: evidenceText }) },
    evidence_details: { ...object.evidence_details, has_evidence: evidenceText !== undefined }
  })
  emit(context, 'charge.dispute.updated', updated)
  if (evidenceText === 'winning_evidence' && params.submit !== false) return decideDispute(context, updated, 'won')
  if (evidenceText === 'losing_evidence' && params.submit !== false) return decideDispute(context, updated, 'lost')
  return updated
}

const listShape = { ...pageShape, charge: text({ max: 255 }), payment_intent: text({ max: 255 }) }

export const disputeRoutes: readonly Route[] = [
  route(
    'disputes.retrieve',
    'GET /v1/disputes/:id',
    {},
    (context, _params, id) => getStored(context, 'dispute', id).object
  ),
  route('disputes.list', 'GET /v1/disputes', listShape, (context, params) =>
    listPage(context, 'dispute', params, '/v1/disputes', filtersOf(params, 'charge', 'payment_intent'))
  ),
  route('disputes.update', 'POST /v1/disputes/:id', updateShape, updateDispute),
  route('disputes.close', 'POST /v1/disputes/:id/close', {}, (context, _params, id) =>
    decideDispute(context, getStored(context, 'dispute', id).object, 'lost')
  )
]
