import { expect, it } from 'vitest'
import { shopstead } from '../support/command-line.ts'

it.each([[[]], [['--upstream', 'shop.example']], [['--upstream', 'ftp://shop.example']]])(
  'shopstead proxy %j exits with USAGE',
  async (args) => {
    const { code, json } = await shopstead('data', ['proxy', '--port', '0', '--json', ...args])
    expect([json, code]).toMatchObject([{ error: { code: 'USAGE' } }, 2])
  }
)
