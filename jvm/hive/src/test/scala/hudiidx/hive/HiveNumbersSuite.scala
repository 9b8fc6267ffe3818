package hudiidx.hive

import hudiidx.NumberSites
import org.scalatest.funsuite.AnyFunSuite

/** As `NumbersSuite`, of the reader for Hive. */
class HiveNumbersSuite extends AnyFunSuite {

  test("no place makes a number of a text by rules of its own") {
    assert(NumberSites.in(classOf[HudiIdxSplit]).isEmpty)
  }
}
