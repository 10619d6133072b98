import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { manPage } from '../../../.config/man-page.ts'

const isMissing = spawnSync('groff', ['--version']).error !== undefined

it.skipIf(isMissing)(
  'the manual page is set by groff without a warning, with every line of an example whole',
  async () => {
    const page = await manPage()
    const options = ['-man', '-Tutf8', '-ww', '-rLL=400n', '-P-c']
    const { stdout: printed, stderr, status } = spawnSync('groff', options, { input: page, encoding: 'utf8' })
    // Bold letters are printed twice, with a backspace between them.
    const stdout = printed.replaceAll(/.[\b]/gu, '')
    expect([stderr, status]).toEqual(['', 0])
    expect(stdout).toMatch(/SHOPSTEAD\(1\)/)
    expect(stdout).toContain('$ shopstead orders refund')
    expect(stdout).toContain('--data-dir <dir>')
  }
)
