import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { readEnvFile } from '../../../src/platform/config/env-file.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

function fileWith(text: string, mode = 0o600): string {
  const path = join(temporaryFolder(), 'shop.env')
  writeFileSync(path, text)
  chmodSync(path, mode)
  return path
}

function folderWith(text: string): string {
  const folder = temporaryFolder()
  writeFileSync(join(folder, '.env'), text)
  return folder
}

describe('the .env file of the working directory', () => {
  let folder = ''
  beforeEach(() => void (folder = folderWith('SHOPSTEAD_PORT=4000\n')))

  it('is read outside production', () => {
    expect(readEnvFile({}, { folder })).toEqual({ SHOPSTEAD_PORT: '4000' })
    expect(readEnvFile({ SHOPSTEAD_ENV: 'test' }, { folder, defaultEnv: 'production' })).toEqual({
      SHOPSTEAD_PORT: '4000'
    })
  })

  it('is not read in production, where it could redirect the live key', () => {
    expect(readEnvFile({ SHOPSTEAD_ENV: 'production' }, { folder })).toEqual({})
    expect(readEnvFile({}, { folder, defaultEnv: 'production' })).toEqual({})
    expect(readEnvFile({ SHOPSTEAD_ENV: '' }, { folder, defaultEnv: 'production' })).toEqual({})
  })

  it('cannot set production itself', () => {
    const production = folderWith('SHOPSTEAD_ENV=production\n')
    expect(() => readEnvFile({}, { folder: production })).toThrow('SHOPSTEAD_ENV_FILE must be set to ".env"')
    expect(readEnvFile({ SHOPSTEAD_ENV: 'test' }, { folder: production })).toEqual({ SHOPSTEAD_ENV: 'production' })
  })

  it('may be missing', () => {
    expect(readEnvFile({}, { folder: temporaryFolder() })).toEqual({})
  })
})

describe('the file that SHOPSTEAD_ENV_FILE names', () => {
  it('is read in production, and other variables in it have no effect on the process', () => {
    const path = fileWith('SHOPSTEAD_PORT=4001\nNODE_OPTIONS=--require=/tmp/code.cjs\n')
    const values = readEnvFile({ SHOPSTEAD_ENV_FILE: path, SHOPSTEAD_ENV: 'production' })
    expect(values).toEqual({ SHOPSTEAD_PORT: '4001' })
  })

  it('must exist', () => {
    const path = join(temporaryFolder(), 'missing.env')
    expect(() => readEnvFile({ SHOPSTEAD_ENV_FILE: path })).toThrow('SHOPSTEAD_ENV_FILE must be an existing file.')
  })

  it.each([0o622, 0o606, 0o660])('is refused when other users can write it (mode %o)', (mode) => {
    const path = fileWith('SHOPSTEAD_PORT=4001\n', mode)
    expect(() => readEnvFile({ SHOPSTEAD_ENV_FILE: path })).toThrow(
      'SHOPSTEAD_ENV_FILE must be a file that only you or root can write.'
    )
  })
})
