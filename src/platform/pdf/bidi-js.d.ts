/** The package's own types are those of an ES module, which is not what Node.js loads: it exports the function itself. */
declare module 'bidi-js' {
  type Levels = { levels: Uint8Array }
  export type Bidi = {
    getEmbeddingLevels(text: string, direction: 'auto'): Levels
    /** The indices of the text, those of a line (`end` included) from left to right. */
    getReorderedIndices(text: string, levels: Levels, start: number, end: number): number[]
    getMirroredCharacter(character: string): string | null
  }
  export default function createBidi(): Bidi
}
