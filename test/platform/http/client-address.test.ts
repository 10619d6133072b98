import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  addressKey,
  clientAddress,
  isUntrustedForwarding,
  parseTrustedProxies,
  widerNetwork
} from '../../../src/platform/http/client-address.ts'

const noProxies = parseTrustedProxies([])
const proxies = parseTrustedProxies(['10.0.0.0/8', '::1', '2001:db8:1::/48', '::ffff:172.16.0.0/108'])

test('without trusted proxies, the address is the socket’s', () => {
  fc.assert(
    fc.property(fc.ipV4(), fc.string(), (socket, forwarded) => {
      expect(clientAddress(socket, forwarded, noProxies)).toBe(socket)
    })
  )
})

test.each([
  ['10.0.0.1', '203.0.113.9', '203.0.113.9'],
  ['10.0.0.1', '6.6.6.6, 203.0.113.9', '203.0.113.9'],
  ['10.0.0.1', '6.6.6.6, 203.0.113.9, 10.1.2.3', '203.0.113.9'],
  ['::ffff:10.0.0.1', '203.0.113.9', '203.0.113.9'],
  ['10.0.0.1', '::ffff:203.0.113.9', '203.0.113.9'],
  ['10.0.0.1', '203.0.113.9, ::ffff:10.9.9.9', '203.0.113.9'],
  ['10.0.0.1', '::ffff:cb00:7109', '203.0.113.9'],
  ['10.0.0.1', '0:0:0:0:0:FFFF:CB00:7109', '203.0.113.9'],
  ['10.0.0.1', '6.6.6.6, 203.0.113.9, [::ffff:a09:909]:5000', '203.0.113.9'],
  ['::ffff:a00:1', '203.0.113.9', '203.0.113.9'],
  ['10.0.0.1', '::ffff:nonsense', '10.0.0.1'],
  ['172.16.5.5', '203.0.113.9', '203.0.113.9'],
  ['172.32.5.5', '203.0.113.9', '172.32.5.5'],
  ['::1', '2001:db8:2::7', '2001:db8:2::7'],
  ['::1', '2001:DB8:2::7, 2001:db8:1::5', '2001:db8:2::7'],
  ['10.0.0.1', '203.0.113.9:5000', '203.0.113.9'],
  ['10.0.0.1', '[2001:db8:2::7]:5000', '2001:db8:2::7'],
  ['10.0.0.1', '10.0.0.2, 10.0.0.3', '10.0.0.2'],
  ['10.0.0.1', '6.6.6.6, unknown', '10.0.0.1'],
  ['10.0.0.1', '6.6.6.6, nonsense, 10.0.0.3', '10.0.0.3'],
  ['10.0.0.1', '', '10.0.0.1'],
  ['203.0.113.9', '6.6.6.6', '203.0.113.9']
])('socket %s, forwarded "%s": the client is %s', (socket, forwarded, client) => {
  expect(clientAddress(socket, forwarded, proxies)).toBe(client)
})

test('a client cannot change its address by forging X-Forwarded-For', () => {
  fc.assert(
    fc.property(fc.string(), (forged) => {
      expect(clientAddress('10.0.0.1', `${forged},203.0.113.9`, proxies)).toBe('203.0.113.9')
    })
  )
})

test('a forwarded header from an untrusted address is detected', () => {
  expect(isUntrustedForwarding('203.0.113.9', '6.6.6.6', proxies)).toBe(true)
  expect(isUntrustedForwarding('203.0.113.9', '6.6.6.6', noProxies)).toBe(true)
  expect(isUntrustedForwarding('10.0.0.1', '6.6.6.6', proxies)).toBe(false)
  expect(isUntrustedForwarding('203.0.113.9', null, proxies)).toBe(false)
})

test.each([
  'nonsense',
  '10.0.0.0/33',
  '10.0.0.0/-1',
  '10.0.0.0/',
  '10.0.0.0/8/8',
  '::/129',
  '10.0.0',
  'fe80::1%eth0',
  ''
])('trusted proxy %j is refused by its number, unrepeated', (entry) => {
  expect(() => parseTrustedProxies(['10.0.0.1', entry])).toThrow(
    'Entry 2 of the trusted proxies must be an IP address or a range such as 10.0.0.0/8.'
  )
})

test.each([
  ['203.0.113.9', '203.0.113.9'],
  ['::ffff:203.0.113.9', '203.0.113.9'],
  ['::ffff:c0a8:1', '192.168.0.1'],
  ['0000::ffff:192.168.0.1', '192.168.0.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  ['1::2:3:4:192.0.2.1', '1:0:0:2::/64']
])('address %s counts as %s', (address, key) => {
  expect(addressKey(address)).toBe(key)
})

test('two addresses in one /64 share a key in every notation', () => {
  const group = fc.integer({ min: 0, max: 0xff_ff }).map((value) => value.toString(16))
  fc.assert(
    fc.property(
      fc.array(group, { minLength: 4, maxLength: 4 }),
      fc.array(group, { minLength: 4, maxLength: 4 }),
      (net, host) => {
        const written = [...net, ...host].join(':')
        const padded = [...net, ...host].map((part) => part.padStart(4, '0')).join(':')
        expect(addressKey(written)).toBe(`${net.join(':')}::/64`)
        expect(addressKey(padded.toUpperCase())).toBe(addressKey(written))
      }
    )
  )
})

test('a /64 network is in a /48 network; an IPv4 address and other keys are in none', () => {
  expect(widerNetwork(addressKey('2001:db8:1:2::1'))).toBe('2001:db8:1::/48')
  expect(widerNetwork(addressKey('::1'))).toBe('0:0:0::/48')
  expect(widerNetwork(addressKey('203.0.113.9'))).toBeUndefined()
  expect(widerNetwork('9f86d081884c7d65')).toBeUndefined()
})
