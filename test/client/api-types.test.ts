import { globSync, readFileSync } from 'node:fs'
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

it('the client imports only its own modules', () => {
  const files = globSync('src/client/*.ts')
  expect(files.length).toBeGreaterThan(3)
  for (const file of files) {
    const imported = [...readFileSync(file, 'utf8').matchAll(/ from '([^']+)'/g)].map(([, name]) => name)
    expect(imported.filter((name) => !/^\.\/[\w-]+\.ts$/.test(name ?? ''))).toEqual([])
  }
})

it('every field and operation of the client’s types has a comment', () => {
  const lines = readFileSync('src/client/api-types.ts', 'utf8').split('\n')
  const fields = lines.filter((line) => /^\s+('[^']+'|\[operation[^\]]*\]|\w+)\??: /.test(line))
  expect(fields.length).toBeGreaterThan(500)
  const own = (line: string): boolean => /^ {4}(query|body|answer): /.test(line) || /^ {2}[A-Z_]+: /.test(line)
  const bare = lines.filter((line, at) => fields.includes(line) && !own(line) && !lines[at - 1]?.endsWith('*/'))
  expect(bare).toEqual([])
})
