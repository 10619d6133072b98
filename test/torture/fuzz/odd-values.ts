import type { Random } from '../random.ts'

/**
 * Texts that often cause errors. They must not match the patterns of leaks in verify.ts, such as an SQL statement,
 * because responses may repeat them.
 */
const texts: readonly string[] = [
  '',
  ' ',
  '\t\r\n',
  '\0',
  'a\0b',
  '\u0007\u001b[31m',
  '\u202Egpj.exe',
  '\u2066\u2069',
  '\uFEFFx',
  '\uD800',
  'x\uDFFF',
  '\uDC00\uD800',
  '\uE000',
  '\uFFFE\uFFFF',
  '\u{10FFFF}',
  '👩‍👩‍👧‍👦'.repeat(20),
  `Z${'\u0301'.repeat(300)}`,
  'ﷺ'.repeat(40),
  'İıſK',
  'e\u0301',
  'ß'.repeat(130),
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'null',
  'undefined',
  'NaN',
  'Infinity',
  'true',
  '0',
  '-0',
  '-1',
  '1e309',
  '0x10',
  '9007199254740993',
  '1.0000000000000001',
  '99999999999999999999999999',
  "' OR '1'='1",
  '"; DROP TABLE users; --',
  '%27%20OR%201',
  '$(id)',
  '`id`',
  '{{7*7}}',
  '${7*7}',
  '<%= 7 %>',
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  '../../../../etc/passwd',
  '..\\..\\windows',
  '%2e%2e%2f',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'https://user@evil.example/',
  'http://[::1',
  'http://[1::2::3]/',
  'https://evil.example\\@shop.example',
  '//evil.example',
  'http://169.254.169.254/latest',
  'a@b',
  'a@b@c.example',
  '"quoted"@example.com',
  'a@xn--0.example',
  'ada@exämple.com',
  `${'a'.repeat(65)}@example.com`,
  `a@${'b.'.repeat(120)}example`,
  '0000-00-00',
  '2026-02-30T25:61:61Z',
  '-271821-04-20T00:00:00Z',
  '+275760-09-13T00:00:00.001Z',
  '9999-12-31T23:59:59.999+23:59',
  'pm_card_visa',
  'tok_visa',
  'ctoken_x',
  'P1Y',
  'ZZ',
  'de',
  ',',
  ';',
  '[object Object]',
  'A'.repeat(255),
  'A'.repeat(256),
  'Ü'.repeat(2_049)
]

/** Numbers at the limits, as text, because JavaScript cannot represent some of them. */
export const numbers: readonly string[] = [
  '0',
  '-0',
  '-1',
  '1',
  '50',
  '51',
  '2147483647',
  '2147483648',
  '4294967296',
  '9007199254740991',
  '9007199254740992',
  '9007199254740993',
  '-9007199254740991',
  '9223372036854775807',
  '9223372036854775808',
  '18446744073709551616',
  '1e21',
  '1e308',
  '1e309',
  '-1e309',
  '1e-400',
  '5e-324',
  '0.1',
  '1.5',
  '1.0',
  '1E0',
  '1.00000000000000000001',
  '0.30000000000000004',
  `1${'0'.repeat(400)}`,
  `0.${'3'.repeat(400)}`
]

/** A random odd text, sometimes two joined or a very long one. */
export function oddText(random: Random): string {
  if (random.oneIn(25))
    return random.pick(['A', 'é', '👻', '\0', ' ']).repeat(random.pick([300, 5_000, 20_000, 66_000]))
  const text = random.pick(texts)
  return random.oneIn(6) ? `${text}${random.pick(texts)}` : text
}

/** A random odd text of at most 100 characters, for headers and paths. */
export function oddWord(random: Random): string {
  for (;;) {
    const text = random.pick(texts)
    if (text.length <= 100) return text
  }
}
