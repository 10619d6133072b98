import { route } from './http/context.ts'
import type { Route } from './http/context.ts'

const accountId = 'acct_sandbox'

function account(): object {
  return {
    id: accountId,
    object: 'account',
    business_profile: { name: 'Sandbox', url: null },
    capabilities: { card_payments: 'active', transfers: 'active' },
    charges_enabled: true,
    country: 'DE',
    default_currency: 'eur',
    details_submitted: true,
    email: 'sandbox@example.com',
    payouts_enabled: true,
    type: 'standard'
  }
}

function balance(): object {
  const amounts = [{ amount: 0, currency: 'eur', source_types: { card: 0 } }]
  return { object: 'balance', available: amounts, livemode: false, pending: amounts }
}

export const accountRoutes: readonly Route[] = [
  route('account.retrieve', 'GET /v1/account', {}, account),
  route('balance.retrieve', 'GET /v1/balance', {}, balance)
]
