package hudiidx.logindex

import hudiidx.bytes.{Bytes, XxHash64}
import hudiidx.record.KeyPageSearch
import hudiidx.storage.RandomReader
import scala.collection.mutable

private[logindex] object PageProbe {

  /** Offsets in the block's content of the records of some keys: ascending, distinct. Reads the key pages alone that may have
    * them. DamagedIndex if one cannot be read.
    *
    * @param numbers of the keys asked, see [[AskedKeys]]
    */
  def run(reader: RandomReader, tail: BlockTail, asked: AskedKeys, numbers: Array[Int]): Array[Int] = {
    val pages = tail.pages(reader)
    val search = new KeyPageSearch(s"${tail.path}: log index at offset ${tail.offset}")
    val found = mutable.TreeSet.empty[Int]
    // A key with many records may go on from page to page; those have all of it but the first asked in the next round.
    var work = firstPages(pages, asked, numbers.sorted)
    while (work.nonEmpty) {
      val next = mutable.TreeMap.empty[Int, mutable.ArrayBuffer[Int]]
      val at = work.keysIterator.toArray
      TailReader.guard(tail.path, tail.offset) {
        RangeReads.foreach(reader, at.map(tail.offset + pages(_).offset), at.map(pages(_).length)) { (i, bytes, from) =>
          val page = pages(at(i))
          require(XxHash64.hash(bytes, from, page.length, 0L) == page.sum, s"checksum of key page ${at(i)} differs")
          search.open(bytes, from, page.length)
          work(at(i)).foreach { number =>
            val key = asked.byCode.at(number)
            val more = search.find(asked.keys.bytes, asked.keys.from(key), asked.keys.length(key))(found += _)
            if (more && at(i) + 1 < pages.size) add(next, at(i) + 1, number)
          }
        }
      }
      work = next
    }
    found.toArray
  }

  private type Work = mutable.TreeMap[Int, mutable.ArrayBuffer[Int]]

  private def add(work: Work, page: Int, number: Int): Unit =
    work.getOrElseUpdate(page, mutable.ArrayBuffer.empty) += number

  /** By page the keys that may begin in it: the first whose last code is not below theirs. */
  private def firstPages(pages: Vector[PageRef], asked: AskedKeys, ascending: Array[Int]): Work = {
    val work: Work = mutable.TreeMap.empty
    var page = 0
    ascending.foreach { number =>
      val code = asked.byCode.code(number)
      while (page < pages.size && isBelow(pages(page).lastCode, code)) page += 1
      if (page < pages.size) add(work, page, number)
    }
    work
  }

  private def isBelow(lastCode: Array[Byte], code: Array[Byte]): Boolean = {
    val length = math.min(code.length, hudiidx.record.KeyPages.CodeBytes)
    Bytes.compare(lastCode, 0, lastCode.length, code, 0, length) < 0
  }
}
