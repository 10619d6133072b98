import type Database from 'better-sqlite3'

type Values = Record<string, string | number | null | Buffer>

/** A row or two for each table in which the demo shop has none. A table of a later schema is added here. */
export function fillEmptyTables(sqlite: Database.Database, now: number): void {
  const insert = (table: string, values: Values): void => {
    const names = Object.keys(values)
    const columns = names.map((name) => `"${name}"`).join(', ')
    sqlite
      .prepare(`INSERT INTO "${table}" (${columns}) VALUES (${names.map((name) => `@${name}`).join(', ')})`)
      .run(values)
  }
  accountRows(insert, now)
  paymentRows(insert, now)
  outboxRows(insert, now)
  insert('moved_rows', {
    source: 'https://old.example wp_',
    kind: 'customer',
    source_id: '7',
    target_id: 1,
    moved_at: now
  })
  insert('declarations', {
    kind: 'withdrawal',
    order_id: 1,
    contract: '1',
    name: 'Lena Hartmann',
    email: 'lena@shop.example',
    email_key: 'lena@shop.example',
    item_ids: null,
    message: 'too small',
    is_for_cause: 0,
    language: 'en',
    received_at: now
  })
  insert('vat_checks', {
    vat_id: 'FR40303265045',
    outcome: 'confirmed',
    name: 'Roux SARL',
    address: 'Rue 1, 75001 Paris',
    consultation: 'WAPIAAAAYhX1jWsP',
    checked_at: now
  })
  insert('customer_groups', { slug: 'wholesale', name: 'Wholesale', percent_bps: 3000, created_at: now })
  insert('group_members', { group_id: 1, user_id: 3, added_at: now })
  insert('group_prices', { group_id: 1, product_id: 1, price_minor: 3150 })
  insert('redirects', { path: '/product/old-mug', target: '/products/mug', created_at: now })
  insert('desk_people', { email: 'anna@shop.example', email_key: 'anna@shop.example', role: 'owner', created_at: now })
  insert('desk_passkeys', {
    id: 'golden-passkey',
    person_id: 1,
    public_key: Buffer.from('golden'),
    counter: 0,
    challenge_at: 0,
    created_at: now
  })
  insert('desk_invitations', { person_id: 1, salt: 'salt', token_hash: '2'.repeat(64), expires_at: now })
  insert('desk_sessions', {
    token_hash: '3'.repeat(64),
    person_id: 1,
    device: 'Chrome, Android',
    created_at: now,
    last_seen_at: now
  })
  insert('desk_log', { person_id: 1, action: 'orders.money', subject: 'orders/1/refund', outcome: 'done', at: now })
  const seller = { name: 'Lanterns & Søns', legal: '' }
  const payee = { code: 'mira', lines: ['Mira Okafor'] }
  const payout = { amountMinor: 500, currency: 'EUR', reference: null, paidBy: 'lena', seller, payee }
  const affiliate = { affiliateId: 1, affiliateCreatedAt: now, affiliateCode: 'mira' }
  insert('commission_rates', { category_id: 1, rate_bps: 500, starts_at: now, created_at: now })
  insert('affiliate_customers', { user_id: 3, affiliate_id: 1, campaign: 'spring', bound_at: now })
  insert('affiliate_coupons', { coupon_id: 1, affiliate_id: 1, created_at: now })
  insert('payouts', {
    affiliate_id: 1,
    amount_minor: 1234,
    currency: 'EUR',
    reference: 'run 7',
    paid_by: 'lena',
    seller: JSON.stringify(seller),
    payee: JSON.stringify(payee),
    created_at: now
  })
  insert('lost_payouts', {
    payout_id: 9,
    created_at: now,
    record: JSON.stringify({
      ...payout,
      ...affiliate,
      lines: [
        { affiliateId: 1, affiliateCreatedAt: now, amountMinor: 500, referral: { id: 1, orderId: 1, createdAt: now } }
      ],
      failure: { reason: 'account closed', recordedBy: 'lena', createdAt: now }
    })
  })
  insert('payout_failures', { payout_id: 1, reason: 'account closed', recorded_by: 'lena', created_at: now })
  insert('subscription_invoices', {
    invoice_id: 'in_golden',
    order_id: 2,
    gateway_id: 'sub_golden',
    period_start: now,
    period_end: now + 2_592_000_000
  })
  insert('gateway_subscriptions', {
    gateway_id: 'sub_golden',
    order_id: 1,
    current_period_end: now + 86_400_000,
    ended_at: null
  })
  insert('order_refunds', {
    order_id: 1,
    amount_minor: 500,
    goods_minor: 500,
    state: 'done',
    created_at: now,
    done_at: now
  })
  insert('refund_lines', { refund_id: 1, order_item_id: 1, quantity: 1, amount_minor: 500, tax_minor: 0 })
  insert('notes', { order_id: 1, text: 'Calls before the parcel arrives', by: 'operator', at: now })
  insert('order_changes', {
    order_id: 1,
    before: '{"email":"old@shop.example"}',
    after: '{"email":"lena@shop.example"}',
    by: 'operator',
    at: now
  })
  insert('order_refunds', {
    order_id: 2,
    amount_minor: 300,
    goods_minor: 300,
    state: 'failed',
    way: 'order',
    created_at: now
  })
  insert('order_credits', {
    order_id: 1,
    refund_id: 2,
    amount_minor: 300,
    state: 'returned',
    created_at: now,
    updated_at: now
  })
  const card = { salt: 'golden', currency: 'EUR', issued_minor: 5000, created_at: now }
  const bearer = { recipient_email: 'lena@shop.example', recipient_key: 'lena@shop.example', message: 'For you' }
  insert('gift_cards', { ...card, ...bearer, code_hash: '4'.repeat(64), last_four: '0123', reason: 'late parcel' })
  const ofOrder = {
    order_id: 1,
    order_item_id: 1,
    recipient_email: 'ada@shop.example',
    recipient_key: 'ada@shop.example'
  }
  insert('gift_cards', { ...card, ...ofOrder, code_hash: '5'.repeat(64), last_four: '4567' })
  insert('gift_card_entries', { gift_card_id: 1, kind: 'issued', amount_minor: 5000, by: 'operator', at: now })
  const sold = { kind: 'sold', amount_minor: 5000, order_id: 1, by: 'checkout', at: now }
  insert('gift_card_entries', { gift_card_id: 2, ...sold })
  insert('order_holders', { order_id: 1, buyer: 'guest:golden', is_guest: 1, address_key: 'f'.repeat(32) })
  const parcel = { carrier: 'DHL', tracking: '0034', url: 'https://dhl.example/0034' }
  insert('shipments', { order_id: 1, ...parcel, by: 'operator', shipped_at: now })
  insert('order_returns', {
    order_id: 1,
    state: 'dropped',
    asked_by: 'operator',
    lines: '[{"itemId":1,"quantity":1}]',
    exchange: '[]',
    created_at: now
  })
  insert('shipment_items', { shipment_id: 1, order_item_id: 1, quantity: 1 })
  insert('coupon_products', { coupon_id: 1, product_id: 1 })
  const picture = { hash: '0'.repeat(32), width: 1600, height: 1200 }
  insert('media', { ...picture, created_at: now })
  const place = { product_id: 1, variation_id: null, folder: null, position: 9, created_at: now }
  const stored = { src: 'https://shop.example/lantern.jpg', alt: 'A lantern', media_hash: picture.hash, problem: null }
  insert('product_images', { ...place, ...stored })
  const sale = { name: 'Black Friday', percent_bps: 2000, starts_at: now - 2, ends_at: now - 1, created_at: now - 3 }
  insert('sales', { id: 1, ...sale, ended_at: null })
  insert('price_history', { product_id: 1, price_minor: 4900, until: now })
  insert('sale_products', { sale_id: 1, product_id: 1 })
  insert('modules', { name: 'courses', enabled: 0, updated_at: now })
  insert('settings', { key: 'shop.name', value: '"Lanterns & Søns"', updated_at: now })
}

type Insert = (table: string, values: Values) => void

function accountRows(insert: Insert, now: number): void {
  const user = { user_id: 1, created_at: now }
  insert('sessions', {
    ...user,
    token_hash: 'a'.repeat(64),
    remember_me: 1,
    start_nonce_hash: null,
    last_seen_at: now,
    ends_at: now + 86_400_000
  })
  insert('email_tokens', {
    ...user,
    kind: 'reset',
    salt: 'salt',
    token_hash: 'b'.repeat(64),
    expires_at: now + 86_400_000,
    used_at: null
  })
  insert('gateway_customers', {
    user_id: 1,
    gateway: 'sandbox',
    livemode: 0,
    customer_id: 'cus_1',
    create_key: 'customer-1',
    email: 'lena@shop.example',
    details: null,
    created_at: now
  })
  insert('idempotency_keys', {
    scope: 'session a',
    key: 'key-1',
    fingerprint: 'f',
    body_fingerprint: 'b',
    buyer: 'user:1',
    state: 'answered',
    owner: 'o',
    order_id: 1,
    status: 200,
    body: Buffer.from('{"data":{}}'),
    set_cookies: null,
    created_at: now,
    expires_at: now + 86_400_000
  })
}

function paymentRows(insert: Insert, now: number): void {
  insert('payment_attempts', {
    order_id: 1,
    gateway: 'stripe',
    kind: 'payment_intent',
    token: 'token',
    create_key: 'create',
    confirm_key: 'confirm',
    amount_minor: 2500,
    currency: 'EUR',
    livemode: 1,
    object_id: 'pi_golden',
    payment_intent_id: 'pi_golden',
    outcome: 'paid',
    settled_at: now,
    created_at: now,
    updated_at: now
  })
  insert('refunds', {
    order_id: 1,
    attempt_id: 1,
    amount_minor: 500,
    currency: 'EUR',
    gateway_key: 'refund',
    gateway_refund_id: 're_golden',
    state: 'done',
    by: 'operator',
    reason: 'a dent',
    created_at: now,
    updated_at: now
  })
  insert('payment_warnings', {
    order_id: 1,
    kind: 'late',
    object_id: 'pi_golden',
    message: 'Paid after it was cancelled.',
    created_at: now
  })
  insert('webhook_inbox', {
    event_id: 'evt_golden',
    type: 'payment_intent.succeeded',
    object_id: 'pi_golden',
    outcome: 'applied',
    event_created_at: now,
    applied_at: now
  })
  insert('webhook_signatures', {
    id: 1,
    refused: 3,
    refused_since_accepted: 2,
    refused_at: now,
    accepted_at: now
  })
  insert('webhook_probes', { token: 'probe-golden', deliveries: '[]', created_at: now })
}

function outboxRows(insert: Insert, now: number): void {
  insert('mails', {
    event_id: 1,
    template: 'order_receipt',
    recipient: 'lena@shop.example',
    data: '{"orderId":1}',
    state: 'sent',
    attempts: 1,
    next_attempt_at: now,
    created_at: now,
    sent_at: now
  })
  insert('webhook_endpoints', {
    url: 'https://site.example/hook',
    types: '["order.paid"]',
    secret: 'whsec_Z29sZGVuIGdvbGRlbiBnb2xkZW4gZ29sZGVu',
    created_at: now
  })
  insert('webhook_deliveries', {
    endpoint_id: 1,
    event_id: 1,
    state: 'failed',
    attempts: 3,
    next_attempt_at: now,
    last_status: 500,
    last_error: 'HTTP 500',
    created_at: now
  })
}
