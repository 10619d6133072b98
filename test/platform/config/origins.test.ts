import { expect, test } from 'vitest'
import { AppError } from '../../../src/errors.ts'
import { parseConfig } from '../../../src/platform/config/config.ts'

const notOrigins = [
  'https://shop.example/path',
  'https://shop.example/?query',
  'https://user@shop.example',
  'https://user:secret@shop.example',
  'ftp://shop.example',
  'shop.example'
]

const refused = (variable: string, value: string): unknown => {
  try {
    parseConfig({ [variable]: value })
  } catch (error) {
    return error instanceof AppError ? [error.code, JSON.stringify(error).includes(variable) || error.message] : error
  }
  return undefined
}

test.each(notOrigins)('%s is refused as the public URL and as one of the origins', (value) => {
  for (const variable of ['SHOPSTEAD_PUBLIC_URL', 'SHOPSTEAD_ORIGINS']) {
    const failure = refused(variable, value)
    expect(failure).toEqual(['CONFIG_INVALID', expect.anything()])
  }
  expect(refused('SHOPSTEAD_ORIGINS', `https://www.shop.example,${value}`)).toEqual([
    'CONFIG_INVALID',
    expect.anything()
  ])
})

test('origins are stored as browsers send them, with or without a slash at the end', () => {
  const { publicUrl, origins } = parseConfig({
    SHOPSTEAD_PUBLIC_URL: 'HTTPS://Shop.Example:443/',
    SHOPSTEAD_ORIGINS: 'https://WWW.shop.example/, http://127.0.0.1:5173'
  })
  expect(publicUrl).toBe('https://shop.example')
  expect(origins).toEqual(['https://www.shop.example', 'http://127.0.0.1:5173'])
})
