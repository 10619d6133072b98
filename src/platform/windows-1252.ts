/** The characters of Windows-1252, by their bytes. */
const characters = new TextDecoder('windows-1252').decode(Uint8Array.from({ length: 256 }, (_, byte) => byte))
const bytes = new Map(Array.from(characters, (character, byte) => [character, byte]))

/**
 * A text in Windows-1252. A letter that it does not have loses its accents (č becomes c). Any other character becomes a
 * question mark.
 */
export function toWindows1252(text: string): Uint8Array {
  const question = 0x3f
  return Uint8Array.from(text.normalize('NFC'), (character) => {
    const [letter = ''] = character.normalize('NFKD')
    return bytes.get(character) ?? bytes.get(letter) ?? question
  })
}
