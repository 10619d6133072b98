import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { clientTypes } from '../../src/api/description/client-types.ts'
import { describeApi } from '../../src/api/description/document.ts'

it('the client’s types match the API description', () => {
  const place = { publicUrl: 'https://shop.test', apiPrefix: '/api/v1', cookieName: 'shopstead_session' }
  // The formatter breaks lines, adds a leading | to unions and removes parentheses.
  const bare = (source: string): string => source.replaceAll(/[\s;|()]/g, '')
  const source = readFileSync('src/client/api-types.ts', 'utf8')
  expect(bare(source) === bare(clientTypes(describeApi(place))), 'run "npm run client:generate"').toBe(true)
})

it('the client imports only its types', () => {
  const source = readFileSync('src/client/client.ts', 'utf8')
  expect([...source.matchAll(/^import .*$/gm)].map(([line]) => line)).toEqual([
    "import type { ErrorDetails, Meta, Operations } from './api-types.ts'"
  ])
  expect(readFileSync('src/client/api-types.ts', 'utf8')).not.toMatch(/^import/m)
})
