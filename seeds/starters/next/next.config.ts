import type { NextConfig } from 'next'

const config: NextConfig = {
  poweredByHeader: false,
  // Addresses contain tokens of orders, which other sites must not get.
  headers: async () => [{ source: '/(.*)', headers: [{ key: 'referrer-policy', value: 'same-origin' }] }]
}

export default config
