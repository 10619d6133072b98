/**
 * The slug that WordPress makes of a title (`sanitize_title`, wp-includes/formatting.php): accents are removed, other
 * letters than a to z become percent signs, and all but letters, digits, `-` and `_` goes.
 *
 * @param language of the WordPress; German has its own umlauts
 */
export function wordPressSlug(title: string, language = 'en'): string {
  const plain = withoutAccents(title, language.startsWith('de'))
  // A percent sign with two digits is a letter that is written so already.
  const kept = withoutTags(plain).replaceAll(/%(?![0-9a-f]{2})/gi, '')
  return encoded(kept.toLowerCase())
    .toLowerCase()
    .replaceAll(/%c2%a0|%e2%80%(?:91|93|94)|%e2%80%8[0-9a]|%e2%80%af/g, '-')
    .replaceAll(/&nbsp;|&#(?:160|8211|8212);|&[nm]dash;/g, '-')
    .replaceAll('/', '-')
    .replaceAll(removed, '')
    .replaceAll('%c3%97', 'x')
    .replaceAll(/&[^;&]{1,50};/g, '')
    .replaceAll('.', '-')
    .replaceAll(/[^%a-z0-9 _-]/g, '')
    .replaceAll(/[ -]+/g, '-')
    .replaceAll(/^-|-$/g, '')
}

/** Punctuation that WordPress removes; other characters outside ASCII stay, as percent signs. */
const removed = new RegExp(
  Array.from(
    '¡¿«»‹›‘’“”‚‛„‟•©®°…´ˊ\u0301\u0300\u0304\u030C™\u200B\u200C\u200D\u200E\u200F\u202A\u202B\u202C\u202D\u202E\uFEFF\uFFFC'
  )
    .map((character) => encodeURIComponent(character).toLowerCase())
    .join('|'),
  'g'
)

const german: Readonly<Record<string, string>> = {
  Ä: 'Ae',
  ä: 'ae',
  Ö: 'Oe',
  ö: 'oe',
  Ü: 'Ue',
  ü: 'ue',
  ß: 'ss',
  ẞ: 'SS'
}
const letters: Readonly<Record<string, string>> = {
  ª: 'a',
  º: 'o',
  Æ: 'AE',
  æ: 'ae',
  Ð: 'D',
  ð: 'd',
  Ø: 'O',
  ø: 'o',
  Þ: 'TH',
  þ: 'th',
  ß: 's',
  Đ: 'D',
  đ: 'd',
  Ħ: 'H',
  ħ: 'h',
  ı: 'i',
  Ĳ: 'IJ',
  ĳ: 'ij',
  ĸ: 'k',
  Ŀ: 'L',
  ŀ: 'l',
  Ł: 'L',
  ł: 'l',
  ŉ: 'n',
  Ŋ: 'N',
  ŋ: 'n',
  Œ: 'OE',
  œ: 'oe',
  Ŧ: 'T',
  ŧ: 't',
  ſ: 's',
  Ǝ: 'E',
  ǝ: 'e',
  '€': 'E',
  '£': ''
}
/** Letters that lose their accents: of European languages, of Vietnamese and of Pinyin. WordPress knows no others. */
const accented = /[À-ÖØ-öø-ÿĀ-žƠơƯưǍ-ǜȘ-țẠ-ỹ]/gu

function withoutAccents(title: string, isGerman: boolean): string {
  const composed = title.normalize('NFC')
  const local = isGerman ? composed.replaceAll(/[ÄäÖöÜüßẞ]/gu, (letter) => german[letter] ?? letter) : composed
  return local
    .replaceAll(/[ªºÆæÐðØøÞþßĐđĦħıĲĳĸĿŀŁłŉŊŋŒœŦŧſƎǝ€£]/gu, (letter) => letters[letter] ?? letter)
    .replaceAll(accented, (letter) => letter.normalize('NFD').replaceAll(/\p{M}/gu, ''))
}

/** The text without tags. A sign that begins no tag stays. */
function withoutTags(text: string): string {
  return text.replaceAll(/<[a-z/!?][^<>]*>/gi, '')
}

/** Other characters than ASCII as percent signs, at most 200 characters, as long as the column of a slug. */
function encoded(text: string): string {
  let result = ''
  for (const character of text) {
    const part = character < '\u0080' ? character : encodeURIComponent(character.isWellFormed() ? character : '')
    if (result.length + part.length > 200) break
    result += part
  }
  return result
}
