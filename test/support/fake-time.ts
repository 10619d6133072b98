import { spawnSync } from 'node:child_process'

/**
 * Environment variables that give a program the clock of a file: `+90s` is 90 seconds ahead, and `2030-01-01 12:00:00`
 * stands still. Uses faketime's library, because its program ignores the file.
 *
 * @throws Error when faketime is not installed
 */
export function fakeTime(timeFile: string): Record<string, string> {
  const { stdout } = spawnSync('faketime', ['-f', '+0', 'printenv', 'LD_PRELOAD'], { encoding: 'utf8' })
  if (typeof stdout !== 'string' || stdout.trim() === '')
    throw new Error('faketime is missing. On Debian, run: apt-get install faketime')
  return {
    LD_PRELOAD: stdout.trim(),
    FAKETIME_TIMESTAMP_FILE: timeFile,
    FAKETIME_NO_CACHE: '1',
    // Timers and timeouts use the monotonic clock, which must not jump.
    FAKETIME_DONT_FAKE_MONOTONIC: '1'
  }
}
