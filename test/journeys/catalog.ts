/** A product for each kind of grant, and one physical product. */
export const benefitCatalog = {
  plans: [
    { slug: 'keepers', name: 'Keepers', module: 'A', rank: 20, pro: false },
    { slug: 'head-keeper', name: 'Head Keeper', module: 'A', rank: 40, pro: true },
    { slug: 'guild', name: 'Guild', module: 'B', rank: 30, pro: false }
  ],
  campaigns: [{ slug: 'panes', name: 'New panes' }],
  products: [
    { slug: 'mug', name: 'Mug', price: '20.00' },
    digital('keepers-month', '5.00', { kind: 'membership', module: 'A', plan: 'keepers', period: 'P1M' }),
    digital('head-keeper', '50.00', { kind: 'membership', module: 'A', plan: 'head-keeper', period: 'P1Y' }),
    digital('guild', '80.00', { kind: 'membership', module: 'B', plan: 'guild' }),
    digital('guild-week', '8.00', { kind: 'membership', module: 'B', plan: 'guild', period: 'P7D' }),
    digital('almanac', '4.00', { kind: 'subscription', interval: 'month' }),
    digital('almanac-pro', '90.00', { kind: 'subscription', interval: 'year', pro: true }),
    digital('glazing', '30.00', { kind: 'course', course: 'glazing' }),
    digital('charts', '12.00', { kind: 'download', file: 'charts/north sea.pdf', days: 30 }),
    digital('song', '3.00', { kind: 'download', file: 'song.txt' }),
    digital('panes', '10.00', { kind: 'donation', campaign: 'panes' }),
    digital('gift', '7.00', { kind: 'donation' })
  ]
}

function digital(slug: string, price: string, ...grants: object[]): object {
  return { slug, name: `Product ${slug}`, price, type: 'digital', grants }
}
