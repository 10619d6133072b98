import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { clientTypes } from '../../src/api/description/client-types.ts'
import { describeApi } from '../../src/api/description/document.ts'

it('the client’s types are those of the API description', () => {
  const place = { publicUrl: 'https://shop.test', apiPrefix: '/api/v1', cookieName: 'shopstead_session' }
  // The formatter breaks lines, opens each line of a union with a bar, and takes needless brackets away.
  const bare = (source: string): string => source.replaceAll(/[\s;|()]/g, '')
  const kept = readFileSync('src/client/api-types.ts', 'utf8')
  expect(bare(kept) === bare(clientTypes(describeApi(place))), 'run "npm run client:generate"').toBe(true)
})

it('the client needs nothing but its types', () => {
  const source = readFileSync('src/client/client.ts', 'utf8')
  expect([...source.matchAll(/^import .*$/gm)].map(([line]) => line)).toEqual([
    "import type { ErrorDetails, Meta, Operations } from './api-types.ts'"
  ])
  expect(readFileSync('src/client/api-types.ts', 'utf8')).not.toMatch(/^import/m)
})
