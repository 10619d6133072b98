import { expect, test } from 'vitest'
import { isLoopback } from '../../../src/platform/http/cross-site.ts'

test.each([
  'http://localhost:3000',
  'http://shop.localhost',
  'http://127.0.0.1:5173',
  'http://127.255.0.3',
  'https://[::1]:3000',
  'smtp://127.0.0.1:25',
  'smtp://mail.localhost'
])('%s is loopback', (url) => {
  expect(isLoopback(new URL(url))).toBe(true)
})

test.each([
  'http://localhost.evil.example',
  'http://evil-localhost',
  'http://127.0.0.1.evil.example',
  'http://128.0.0.1',
  'http://[::2]',
  'http://shop.example/localhost',
  'http://localhost@shop.example'
])('%s is not loopback', (url) => {
  expect(isLoopback(new URL(url))).toBe(false)
})
