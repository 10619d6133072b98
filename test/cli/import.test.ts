import { expect, it } from 'vitest'
import { shopstead } from '../support/command-line.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

it('shopstead import wordpress says what it accepts', async () => {
  const folder = temporaryFolder()
  await shopstead(folder, ['init'])
  const sent = async (address: string) => {
    const { code, json } = await shopstead(folder, ['import', 'wordpress', address, '--json'])
    return { code, ...json }
  }
  expect(await sent('postgres://localhost/shop')).toMatchObject({
    code: 2,
    error: { code: 'USAGE', message: expect.stringContaining('mysql://') }
  })
  expect(await sent(`${folder}/none.sql`)).toMatchObject({ code: 1, error: { code: 'NOT_FOUND' } })
  const closed = 'mysql://lena:secret-word@127.0.0.1:1/shop'
  const refused = await sent(closed)
  expect(refused).toMatchObject({ error: { code: 'DEPENDENCY_UNAVAILABLE' } })
  expect(JSON.stringify(refused)).not.toContain('secret-word')
})
