import { route } from './context.ts'
import type { Context, Route } from './context.ts'
import { listAnswer, pageShape } from './lists.ts'

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

function webhookEndpoints(context: Context): object {
  const endpoint = {
    id: 'we_sandbox',
    object: 'webhook_endpoint',
    api_version: context.versions.endpoint,
    application: null,
    created: 0,
    description: null,
    enabled_events: context.webhookEvents ?? ['*'],
    livemode: false,
    metadata: {},
    status: 'enabled',
    url: context.webhookUrl
  }
  return listAnswer([endpoint], '/v1/webhook_endpoints')
}

export const accountRoutes: readonly Route[] = [
  route('account.retrieve', 'GET /v1/account', {}, account),
  route('balance.retrieve', 'GET /v1/balance', {}, balance),
  route('webhook_endpoints.list', 'GET /v1/webhook_endpoints', pageShape, webhookEndpoints)
]
