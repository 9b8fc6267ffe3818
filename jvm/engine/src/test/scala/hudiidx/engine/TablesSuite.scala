package hudiidx.engine

import java.net.{URL, URLClassLoader}
import java.nio.file.Files

import hudiidx.fs.CommandSettings
import hudiidx.{Fixtures, InvalidOption, NotAHudiTable, Texts}
import hudiidx.table.TableConfig
import org.apache.hadoop.conf.Configuration
import org.scalatest.funsuite.AnyFunSuite

/** A JVM that runs one command finds the files that Hadoop would find, mostly without it. */
final class TablesSuite extends AnyFunSuite {
  private val forms =
    Vector(
      "/a/b",
      "/a/b/",
      "/a//b",
      "/a/./b/../c",
      "a/b",
      "./a",
      "file:/a/b",
      "file:///a/b",
      "file:/a/b/",
      "/a b/%20/ü"
    )

  forms.foreach { form =>
    test(s"'$form' is the path that Hadoop makes of it") {
      assert(Tables.qualified(form, new CommandSettings) === Tables.qualified(form, new Configuration))
    }
  }

  Vector("", "/", "//", "file:", "file:///", "C:\\x", "a\u0000b").foreach { form =>
    test(s"'${Texts.shown(form)}' is refused as a table's path") {
      for (conf <- Vector(new CommandSettings, new Configuration))
        assert(intercept[InvalidOption](Tables.qualified(form, conf)).getMessage.contains("not a valid table path"))
    }
  }

  test("a table of another store is asked of that store") {
    for (conf <- Vector(new CommandSettings, new Configuration)) {
      val e = intercept[NotAHudiTable](Tables.qualified("nowhere://bucket/table", conf))
      assert(
        e.getMessage.startsWith("nowhere://bucket/table: cannot be read (the class path has no client for nowhere://")
      )
    }
  }

  test("where core-site.xml says what paths without a scheme are, Hadoop goes by it") {
    val folder = Fixtures.newFolder("core-site")
    Files.writeString(
      folder.resolve("core-site.xml"),
      "<configuration><property><name>fs.defaultFS</name><value>nowhere://store</value></property></configuration>"
    )
    val thread = Thread.currentThread
    val before = thread.getContextClassLoader
    thread.setContextClassLoader(new URLClassLoader(Array[URL](folder.toUri.toURL), before))
    try {
      assert(intercept[Exception](Tables.access(new CommandSettings).storage.list("/a")).getMessage.contains("nowhere"))
      assert(intercept[Exception](Tables.qualified("/a", new CommandSettings)).getMessage.contains("nowhere"))
    } finally thread.setContextClassLoader(before)
  }

  test("what is no table is told with the same words") {
    val folder = Fixtures.newFolder("no-table").toString
    def told(conf: Configuration): String =
      intercept[NotAHudiTable](TableConfig.read(Tables.access(conf).storage, Tables.qualified(folder, conf))).getMessage
    assert(told(new CommandSettings) === told(new Configuration))
  }
}
